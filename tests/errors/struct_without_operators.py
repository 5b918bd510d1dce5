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


def kernel(x: Array[f32]):
    p = Point(x[0]) + Point(x[1])
    q = 2.0 * Point(x[0])
    r = -Point(x[0])
    s = Point(x[0])[0]
    t = Point(x[0])(1.0)


ARGUMENTS = (np.zeros(8, np.float32),)
