# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def reverse(x: Array[f32]):
    i = cb.UNIT_POS
    tile = cb.shared(f32, 8)
    tile[i] = x[i]
    x[i] = tile[7 - i]


def run():
    reverse.launch(np.zeros(8, np.float32), cube_count=1, cube_dim=8, device="reference")
