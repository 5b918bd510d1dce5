# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def first(values: Array[f32]):
    return values[0]


def kernel(x: Array[f32]):
    x[0] = first(x[0])


ARGUMENTS = (np.zeros(8, np.float32),)
