# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, i32


def kernel(n: Array[i32]):
    i = cb.UNIT_POS
    for k in range(n[i]):
        cb.sync_cube()
        n[i] += 1


ARGUMENTS = (np.zeros(8, np.int32),)
