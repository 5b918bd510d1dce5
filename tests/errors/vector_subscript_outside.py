# mypy: ignore-errors
# ruff: noqa: F841
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    v = x.vectorized(4)[0]
    x[0] = v[4]
    x[1] = v[-1]
    x[2] = v[0.5]
    x[3] = v[x[0]]
    w = v[0:3]
    u = cb.insert(v, 4, 1.0)


ARGUMENTS = (np.zeros(8, np.float32),)
