# ruff: noqa: F821
# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32, i32


def kernel(x: Array[f32], n: Array[i32]):
    i = cb.ABSOLUTE_POS
    a = x[i] + n[i]
    b = a * 2.0
    c = missing + 1
    x[i] = b + c
    n[i] = n[i] / 3


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.int32))
