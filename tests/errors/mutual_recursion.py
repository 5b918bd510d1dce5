# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, i32


def even(n):
    if n == 0:
        return True
    return odd(n - 1)


def odd(n):
    if n == 0:
        return False
    return even(n - 1)


def kernel(x: Array[f32], n: i32):
    if even(n):
        x[0] = 1.0


ARGUMENTS = (np.zeros(8, np.float32), 3)
