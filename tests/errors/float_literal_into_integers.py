# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, i32


def kernel(n: Array[i32]):
    n[0] = 0.5


ARGUMENTS = (np.zeros(8, np.int32),)
