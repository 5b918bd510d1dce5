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
    p = Point(y=x[0])
    q = Point(x[0], x=x[1])
    r = Point(x[0], z=x[1])
    s = Point(x[0], x[1], x[2])


ARGUMENTS = (np.zeros(8, np.float32),)
