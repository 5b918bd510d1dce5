# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, i32


def kernel(x: Array[f32], n: i32):
    trips = range(n)
    x[0] = f32(len(trips))


ARGUMENTS = (np.zeros(8, np.float32), 3)
