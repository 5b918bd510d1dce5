# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    values = [x[0], x[1]]
    values[0] = 1.0
    x[0] = values[1]


ARGUMENTS = (np.zeros(8, np.float32),)
