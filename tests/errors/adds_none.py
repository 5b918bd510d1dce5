# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


LIMIT = None


def kernel(x: Array[f32]):
    x[0] = x[1] + LIMIT


ARGUMENTS = (np.zeros(8, np.float32),)
