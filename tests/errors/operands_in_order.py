# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32, i32


def kernel(x: Array[f32], n: Array[i32]):
    i = cb.ABSOLUTE_POS
    total = 0.5
    x[0] = x[i] / i
    x[1] = i / x[i]
    x[2] = total / i
    x[3] = i / total
    x[4] = 1.5 + n[i]
    x[5] = n[i] + 1.5
    x[6] = True + x[i]
    x[7] = x[i] + True
    n[0] = 1 if True == n[i] else 0
    n[1] = 1 if n[i] == True else 0
    n[2] = min(total, i, 2)


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.int32))
