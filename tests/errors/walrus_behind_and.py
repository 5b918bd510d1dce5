# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    if x[0] > 0.0 and (y := x[1]) > 0.0:
        x[2] = y
    x[0] = y


ARGUMENTS = (np.zeros(8, np.float32),)
