# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, i32


def kernel(n: Array[i32]):
    n[0] = sum(range(10**12))


ARGUMENTS = (np.zeros(8, np.int32),)
