# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def kernel(x: Array[f32], out: Array[f32]):
    i = cb.ABSOLUTE_POS
    cb.sqrt(x[i])
    max(x[i], out[i])
    f32(i)
    cb.select(x[i] > 0, out[i], 1.0)


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
