# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


def kernel(x: Array[f32], out: Array[f32]):
    out[0] = np.sum(x)
    w = np.empty_like(x)
    v = np.zeros(int(x[0]))
    out[1] = np.dot(x, x)
    out[2] = np.where(x[0] > 0, x[1], x[2])
    out[3] = np.linalg.norm(x)
    out[3] = np.float32.fromhex(x[0])


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
