# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


def kernel(x: Array[f32], out: Array[f32]):
    i = threadIdx.x + blockIdx.x * blockDim.x
    __syncthreads()
    atomicAdd(x, 0, 1.0)
    out[i] = __shfl_down_sync(0xFFFFFFFF, x[i], 1)
    out[0] = cb.float32(warpSize)


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
