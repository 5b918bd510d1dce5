# mypy: ignore-errors
# ruff: noqa: F841
import numpy as np

import cubepy as cb
from cubepy import Array, Vector, f32, i32


def kernel(x: Array[f32]):
    n = i32(x[0])
    v = cb.vector(x[0], n)
    w = x.vectorized(2)[0] + x.vectorized(4)[0]
    u = x.vectorized(2)[0] + Vector[i32, 2](1)


ARGUMENTS = (np.zeros(8, np.float32),)
