# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def kernel(x: Array[f32], out: Array[f32]):
    cb.sync_cube
    out[0] = x[0]


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
