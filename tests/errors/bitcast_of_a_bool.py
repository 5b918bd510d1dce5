# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, u8


def kernel(f: Array[bool]):
    if cb.bitcast(u8, f[0]) > 1:
        f[0] = True


ARGUMENTS = (np.zeros(8, np.bool_),)
