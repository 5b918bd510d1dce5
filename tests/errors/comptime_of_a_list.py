# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32

TABLE = [1.0, 2.0]


def factor():
    return TABLE[0] * 2


def kernel(x: Array[f32]):
    x[0] *= cb.comptime(factor())


ARGUMENTS = (np.zeros(8, np.float32),)
