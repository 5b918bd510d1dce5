# mypy: ignore-errors
# ruff: noqa: F841, RUF059
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.struct
class Point:
    x: f32
    y: f32 = 0.0

    def along(self, t):
        return self.x * t


def kernel(x: Array[f32]):
    x[0] = Point(x[1])
    a, b = Point(x[0])
    n = len(Point(x[0]))


ARGUMENTS = (np.zeros(8, np.float32),)
