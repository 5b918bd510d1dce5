# mypy: ignore-errors
# ruff: noqa: F841
import numpy as np

from cubepy import Array, Vector, f32, i32


def longest(v: Vector[f32, 4]):
    return max(v)


def kernel(x: Array[f32]):
    x[0] = longest(x[0])
    x[1] = longest(x.vectorized(2)[0])
    x[2] = longest(Vector[i32, 4](1))
    v: Vector[f32, 2] = x[0]


ARGUMENTS = (np.zeros(8, np.float32),)
