# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    i = cb.UNIT_POS
    tile = cb.shared(f32, 32)
    if i >= len(x):
        return
    tile[i] = x[i]
    cb.sync_cube()
    x[i] = tile[31 - i]


ARGUMENTS = (np.zeros(8, np.float32),)
