# mypy: ignore-errors
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
    p = Point(x[0])
    p.x = 1.0
    p.y += x[1]


ARGUMENTS = (np.zeros(8, np.float32),)
