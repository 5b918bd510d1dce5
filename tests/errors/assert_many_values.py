# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    i = cb.UNIT_POS
    assert x[i] > 0.0, (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8])


ARGUMENTS = (np.zeros(4, np.float32),)
