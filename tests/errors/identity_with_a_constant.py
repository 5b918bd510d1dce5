# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, i32


ONE = 1


def kernel(n: Array[i32]):
    if n[0] is ONE:
        n[0] = 2


ARGUMENTS = (np.zeros(8, np.int32),)
