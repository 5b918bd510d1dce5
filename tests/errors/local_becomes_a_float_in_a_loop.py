# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, i32


def kernel(x: Array[f32], n: Array[i32]):
    total = n[0]
    for k in range(4):
        total += x[k]
    x[0] = f32(total)


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.int32))
