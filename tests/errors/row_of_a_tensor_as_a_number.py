# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


def kernel(x: Tensor[f32], out: Tensor[f32]):
    i = cb.ABSOLUTE_POS
    out[0, 0, 0] = x[i] * 2.0
    out[0, 0, 0] = cb.sqrt(out[i, 0])
    out[i] = 1.0
    out[i, 0] = x


ARGUMENTS = (
    np.zeros((2, 3), np.float32),
    np.zeros((2, 3, 4), np.float32),
)
