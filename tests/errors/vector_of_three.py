# mypy: ignore-errors
# ruff: noqa: F841
import numpy as np

import cubepy as cb
from cubepy import Array, Vector, f32


def kernel(x: Array[f32]):
    v = cb.vector(x[0], x[1], x[2])
    w = Vector[f32, 4](x[0], x[1], x[2])
    u = Vector[f32, 3](x[0])
    x.vectorized(3)[0] = 1.0
    y = x.vectorized(cb.ABSOLUTE_POS)


ARGUMENTS = (np.zeros(8, np.float32),)
