# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


class Point:
    x: f32


def kernel(x: Array[f32], p: Point):
    x[0] = p.x


ARGUMENTS = (np.zeros(8, np.float32), Point())
