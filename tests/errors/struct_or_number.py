# mypy: ignore-errors
# ruff: noqa: F841
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.struct
class Point:
    x: f32
    y: f32 = 0.0

    def along(self, t):
        return self.x * t


def other(v):
    if v > 0.0:
        return Point(v)
    return v


def kernel(x: Array[f32]):
    p = other(x[0])
    q = Point(x[0])
    for i in range(3):
        q = x[i]
    r = Point(x[0]) if x[1] > 0.0 else x[2]


ARGUMENTS = (np.zeros(8, np.float32),)
