# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    i = cb.UNIT_POS
    x[i] = cb.plane_shuffle(x[i], x[0])


ARGUMENTS = (np.zeros(8, np.float32),)
