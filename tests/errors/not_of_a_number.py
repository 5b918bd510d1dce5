# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, i32


def kernel(n: Array[i32]):
    if not n[0]:
        n[0] = 1


ARGUMENTS = (np.zeros(8, np.int32),)
