# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    first, *rest = x
    x[0] = first


ARGUMENTS = (np.zeros(8, np.float32),)
