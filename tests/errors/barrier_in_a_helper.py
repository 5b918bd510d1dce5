# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def exchange(tile, i, v):
    tile[i] = v
    cb.sync_cube()
    return tile[31 - i]


def kernel(x: Array[f32]):
    i = cb.UNIT_POS
    tile = cb.shared(f32, 32)
    if x[i] > 0.0:
        x[i] = exchange(tile, i, x[i])


ARGUMENTS = (np.zeros(8, np.float32),)
