# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, u32


def kernel(x: Array[u32]):
    i = cb.ABSOLUTE_POS
    by = cb.FastDivmod.of(len(x))
    x[i] = by.divide(x[i])


ARGUMENTS = (np.zeros(8, np.uint32),)
