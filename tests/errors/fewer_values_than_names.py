# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def pair(v):
    return v, 2.0 * v


def kernel(x: Array[f32]):
    a, b, c = pair(x[0])
    x[0] = a + b + c


ARGUMENTS = (np.zeros(8, np.float32),)
