# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32], y: Array[f32]):
    source = x if x[0] > 0.0 else y
    x[0] = source[1]


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.float32))
