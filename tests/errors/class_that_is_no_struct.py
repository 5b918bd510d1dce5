# mypy: ignore-errors
import dataclasses

import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.struct
class Point:
    x: f32
    y: f32 = 0.0

    def along(self, t):
        return self.x * t


@dataclasses.dataclass(frozen=True)
class Loose:
    x: f32


class Other:
    def __init__(self, x):
        self.x = x


def kernel(x: Array[f32]):
    x[0] = Loose(x[1]).x
    x[1] = Other(x[0]).x


ARGUMENTS = (np.zeros(8, np.float32),)
