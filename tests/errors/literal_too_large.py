# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, u8


def kernel(x: Array[u8]):
    i = cb.ABSOLUTE_POS
    x[i] = x[i] + 300


ARGUMENTS = (np.zeros(8, np.uint8),)
