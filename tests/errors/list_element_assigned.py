# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


def kernel(x: Array[f32], out: Array[f32]):
    w = [0.0, 1.0]
    w[1] = x[0]


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
