# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    i = cb.UNIT_POS
    for k in range(4):
        if x[i] > 1.0:
            break
        cb.sync_cube()
        x[i] += 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
