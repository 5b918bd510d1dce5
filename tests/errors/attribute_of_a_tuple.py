# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    pair = (x[0], x[1])
    x[0] = pair.first


ARGUMENTS = (np.zeros(8, np.float32),)
