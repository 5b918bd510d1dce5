# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    i = cb.UNIT_POS
    x[i] = f32(cb.plane_sum(x[i] > 0.0))


ARGUMENTS = (np.zeros(8, np.float32),)
