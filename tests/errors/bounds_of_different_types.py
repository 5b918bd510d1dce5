# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, i32, u64


def kernel(x: Array[f32], u: Array[u64], n: i32):
    for k in range(n, u[0]):
        x[k] = 1.0


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.uint64), 3)
