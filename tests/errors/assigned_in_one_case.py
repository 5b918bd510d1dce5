# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, i32


def kernel(n: Array[i32]):
    match n[0]:
        case 0:
            v = 1
        case 1:
            pass
        case _:
            v = 2
    n[0] = v


ARGUMENTS = (np.zeros(8, np.int32),)
