# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, i32


def half(v: f32) -> i32:
    return v * 0.5


def kernel(x: Array[f32]):
    x[0] = f32(half(x[1]))


ARGUMENTS = (np.zeros(8, np.float32),)
