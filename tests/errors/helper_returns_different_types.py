# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, i32, u32


def pick(first, second, sign):
    if sign > 0:
        return first
    return second


def kernel(n: Array[i32], u: Array[u32]):
    n[0] = pick(n[1], u[1], n[2])


ARGUMENTS = (np.zeros(8, np.int32), np.zeros(8, np.uint32))
