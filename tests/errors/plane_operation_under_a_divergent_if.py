# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    i = cb.UNIT_POS
    if i < 3:
        x[i] = cb.plane_sum(x[i])


ARGUMENTS = (np.zeros(8, np.float32),)
