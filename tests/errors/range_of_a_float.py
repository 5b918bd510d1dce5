# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    for k in range(2.0):
        x[k] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
