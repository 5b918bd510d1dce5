# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


def add(a, b):
    c = a + b


def kernel(x: Array[f32], out: Array[f32]):
    out[0] = add(x[0], 2)
    out[1] = 1.0 + add(x[0], 2)
    out[2] = cb.sync_plane()


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
