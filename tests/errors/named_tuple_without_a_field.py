# mypy: ignore-errors
# ruff: noqa
from typing import NamedTuple

import numpy as np

from cubepy import Array, f32


class Point(NamedTuple):
    x: float
    y: float


def kernel(x: Array[f32]):
    p = Point(x[0])
    x[0] = p.x


ARGUMENTS = (np.zeros(8, np.float32),)
