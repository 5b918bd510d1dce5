# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, i32


def kernel(n: Array[i32]):
    match n[0]:
        case [a, b]:
            n[0] = a + b


ARGUMENTS = (np.zeros(8, np.int32),)
