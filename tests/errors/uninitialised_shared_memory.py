# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def kernel(x: Array[f32], out: Array[f32]):
    part = cb.shared(f32, (2, 4))
    part[0, cb.UNIT_POS] = x[cb.ABSOLUTE_POS]
    cb.sync_cube()
    out[cb.ABSOLUTE_POS] = part[1, cb.UNIT_POS]


def run():
    x = np.arange(8, dtype=np.float32)
    kernel.launch(x, np.zeros_like(x), cube_count=2, cube_dim=4, device="reference")
