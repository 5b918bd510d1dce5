# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    x[0] = f32(cb.popcount(x[1]))


ARGUMENTS = (np.zeros(8, np.float32),)
