# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, i32


def first(values: Array[f32]):
    return values[0]


def kernel(n: Array[i32]):
    n[0] = i32(first(n))


ARGUMENTS = (np.zeros(8, np.int32),)
