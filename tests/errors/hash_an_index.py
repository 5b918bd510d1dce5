# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, u32


def kernel(y: Array[u32]):
    i = cb.ABSOLUTE_POS
    y[i] = y[i] * i


ARGUMENTS = (np.zeros(8, np.uint32),)
