# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


LAST = 3


def kernel(x: Array[f32]):
    x[2 - LAST] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
