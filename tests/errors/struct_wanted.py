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


def away(p: Point, by: f32):
    return p.x - by


def kernel(x: Array[f32]):
    x[0] = away(x[1], 2.0)
    x[1] = away(Point(x[0]), Point(x[1]))
    p: Point = x[0]


ARGUMENTS = (np.zeros(8, np.float32),)
