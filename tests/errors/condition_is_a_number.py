# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, i32


def kernel(x: Array[i32]):
    i = cb.ABSOLUTE_POS
    if x[i]:
        x[i] = 0


ARGUMENTS = (np.zeros(8, np.int32),)
