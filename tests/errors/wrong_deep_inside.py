# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def innermost(v):
    return v + missing


def inner(v):
    return innermost(v) * 2.0


def outer(v):
    return inner(v) + 1.0


def kernel(x: Array[f32]):
    for k in range(3):
        if x[k] > 0.0:
            x[k] = outer(x[k])


ARGUMENTS = (np.zeros(8, np.float32),)
