# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, i32, u8


def kernel(x: Array[i32], out: Array[u8]):
    i = cb.ABSOLUTE_POS
    out[i] = x[i]


ARGUMENTS = (np.zeros(8, np.int32), np.zeros(8, np.uint8))
