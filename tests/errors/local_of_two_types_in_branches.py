# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, i32


def kernel(x: Array[f32], n: Array[i32]):
    if x[0] > 0.0:
        best = x[1]
    else:
        best = n[1]
    x[0] = f32(best)


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.int32))
