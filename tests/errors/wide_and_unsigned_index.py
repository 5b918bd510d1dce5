# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, u32


def kernel(u: Array[u32]):
    i = cb.ABSOLUTE_POS
    u[i] = u[i] + len(u)


ARGUMENTS = (np.zeros(8, np.uint32),)
