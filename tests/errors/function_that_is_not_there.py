# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


def kernel(x: Array[f32], out: Array[f32]):
    out[0] = math.gamma(x[0])
    out[1] = math.dist(x, x)


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
