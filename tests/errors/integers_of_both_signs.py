# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


def kernel(x: Array[f32], out: Array[f32]):
    a = cb.u32(x[0]) + cb.i32(x[1])
    b = cb.i32(x[0]) * cb.u16(x[1])
    c = cb.i64(x[0]) - cb.u64(x[1])
    d = cb.i8(x[0]) - cb.u32(x[1])


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
