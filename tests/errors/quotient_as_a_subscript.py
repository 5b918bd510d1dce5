# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


def kernel(x: Array[f32], out: Array[f32]):
    i = cb.ABSOLUTE_POS
    out[i] = x[i / 2]
    out[(i + 1) / 2] = 0.0


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
