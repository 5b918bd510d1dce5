# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, i32


@cb.cube
def kernel(x: Array[i32], total: Array[i32], out: Array[i32]):
    i = cb.ABSOLUTE_POS
    cb.atomic_add(total, 0, x[i])
    out[i] = total[0]


def run():
    x = np.arange(4, dtype=np.int32)
    kernel.over(4, device="reference")(x, np.zeros(1, np.int32), np.zeros_like(x))
