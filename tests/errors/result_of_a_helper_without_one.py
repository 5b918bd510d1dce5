# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def put(x, v):
    x[0] = v


def kernel(x: Array[f32]):
    x[1] = put(x, 2.0) + 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
