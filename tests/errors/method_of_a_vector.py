# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    p = cb.vector(x[0], x[1])
    x[0] = p.sum()
    x[1] = p.dot(p)
    x[2] = p.fill


ARGUMENTS = (np.zeros(8, np.float32),)
