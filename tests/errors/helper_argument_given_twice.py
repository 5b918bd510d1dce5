# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def scaled(v, factor):
    return v * factor


def kernel(x: Array[f32]):
    x[0] = scaled(x[0], 2.0, v=3.0)


ARGUMENTS = (np.zeros(8, np.float32),)
