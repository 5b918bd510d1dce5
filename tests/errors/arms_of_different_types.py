# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, i32


def kernel(x: Array[f32], n: Array[i32]):
    x[0] = x[1] if x[2] > 0.0 else n[0]


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.int32))
