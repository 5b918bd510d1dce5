# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, i32


def kernel(x: Array[f32], n: i32):
    for k in n:
        x[k] = 1.0


ARGUMENTS = (np.zeros(8, np.float32), 3)
