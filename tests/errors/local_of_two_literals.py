# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, i32, u32


def kernel(x: Array[i32], y: Array[u32]):
    k = 0
    k += cb.ABSOLUTE_POS
    y[0] = k


ARGUMENTS = (np.zeros(8, np.int32), np.zeros(8, np.uint32))
