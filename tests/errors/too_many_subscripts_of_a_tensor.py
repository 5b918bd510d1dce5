# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


def kernel(x: Tensor[f32], out: Tensor[f32]):
    out[0, 0, 0, 0] = x[0, 0, 0]


ARGUMENTS = (
    np.zeros((2, 3), np.float32),
    np.zeros((2, 3, 4), np.float32),
)
