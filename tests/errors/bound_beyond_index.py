# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, i32


def kernel(n: Array[i32]):
    for k in range(0, 2**64 - 1):
        n[0] = 1


ARGUMENTS = (np.zeros(8, np.int32),)
