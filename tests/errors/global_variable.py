# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


TOTAL = 0.0


def kernel(x: Array[f32]):
    global TOTAL
    TOTAL = x[0]


ARGUMENTS = (np.zeros(8, np.float32),)
