# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, Tensor, f32


def first(values: Array[f32]):
    return values[0]


def kernel(m: Tensor[f32]):
    m[0, 0] = first(m)


ARGUMENTS = (np.zeros((4, 4), np.float32),)
