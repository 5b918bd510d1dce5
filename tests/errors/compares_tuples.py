# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    if (x[0], x[1]) == (x[2], x[3]):
        x[0] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
