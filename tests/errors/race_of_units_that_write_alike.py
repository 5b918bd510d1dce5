# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def kernel(x: Array[f32], out: Array[f32]):
    total = cb.shared(f32, 1)
    total[0] = x[cb.ABSOLUTE_POS]
    cb.sync_cube()
    out[cb.CUBE_POS] = total[0]


def run():
    x = np.arange(8, dtype=np.float32)
    kernel.launch(x, np.zeros(2, np.float32), cube_count=2, cube_dim=4, device="reference")
