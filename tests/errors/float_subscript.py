# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    i = cb.ABSOLUTE_POS
    x[i] = x[x[i]]


ARGUMENTS = (np.zeros(8, np.float32),)
