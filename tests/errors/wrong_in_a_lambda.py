# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    double = lambda v: v * two
    x[0] = double(x[1])


ARGUMENTS = (np.zeros(8, np.float32),)
