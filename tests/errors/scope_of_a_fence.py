# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, i32


def kernel(x: Array[i32]):
    cb.fence("grid")
    x[cb.UNIT_POS] = 0


ARGUMENTS = (np.zeros(4, np.int32),)
