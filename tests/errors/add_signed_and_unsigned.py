# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, i32, u32


def kernel(x: Array[i32], y: Array[u32]):
    i = cb.ABSOLUTE_POS
    x[i] = i32(x[i] + y[i])


ARGUMENTS = (np.zeros(8, np.int32), np.zeros(8, np.uint32))
