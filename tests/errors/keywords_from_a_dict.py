# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def scaled(v, factor=2.0):
    return v * factor


OPTIONS = (("factor", 3.0),)


def kernel(x: Array[f32]):
    x[0] = scaled(x[0], **OPTIONS)


ARGUMENTS = (np.zeros(8, np.float32),)
