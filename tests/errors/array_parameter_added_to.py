# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def kernel(x: Array[f32], out: Array[f32]):
    i = cb.ABSOLUTE_POS
    if i < 3:
        out += x[i]


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
