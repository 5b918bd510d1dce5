# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    max = x[0]
    x[0] = max(x[1], 0.0)


ARGUMENTS = (np.zeros(8, np.float32),)
