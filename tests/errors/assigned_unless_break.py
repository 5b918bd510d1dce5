# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, i32


def kernel(x: Array[f32], n: i32):
    for k in range(n):
        if x[k] > 0.0:
            break
    else:
        found = 1.0
    x[0] = found


ARGUMENTS = (np.zeros(8, np.float32), 3)
