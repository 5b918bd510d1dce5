# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


def kernel(x: Array[f32], out: Array[f32]):
    i = get_global_id(0)
    j = tl.program_id(0)
    barrier(1)
    out[i] = tl.where(x[i] > 0, x[i], 0)


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
