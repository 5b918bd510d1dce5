# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


def kernel(x: Array[f32], out: Array[f32]):
    i = cb.grid(1)
    cb.syncthreads()
    cb.atomic.add(x, 0, 1)
    for j in prange(4):
        out[j] = 1.0
    cuda.syncthreads()
    t = cuda.local.array(4, np.float32)
    s = cb.shared.array(4, f32)
    u = cuda.shared.array(4, f32)


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
