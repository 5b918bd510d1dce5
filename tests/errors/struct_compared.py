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
    if p < Point(x[1]):
        x[0] = 1.0
    if p == x[0]:
        x[1] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
