# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def pair(v: f32) -> f32:
    return v, v


def kernel(x: Array[f32]):
    x[0], x[1] = pair(x[2])


ARGUMENTS = (np.zeros(8, np.float32),)
