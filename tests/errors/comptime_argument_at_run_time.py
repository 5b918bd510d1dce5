# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, Comptime, f32, i32


def power(v, exponent: Comptime[int]):
    return v**exponent


def kernel(x: Array[f32], n: i32):
    x[0] = power(x[0], n)


ARGUMENTS = (np.zeros(8, np.float32), 3)
