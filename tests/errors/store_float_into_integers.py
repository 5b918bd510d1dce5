# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32, i32


def kernel(x: Array[f32], out: Array[i32]):
    i = cb.ABSOLUTE_POS
    out[i] = x[i] * 2.0


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.int32))
