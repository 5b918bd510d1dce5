# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    v = x[0]
    if v > 0.0:
        v = (v, v)
    x[0] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
