# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, i32


def kernel(n: Array[i32]):
    mask = 1 << 70
    n[0] = mask


ARGUMENTS = (np.zeros(8, np.int32),)
