# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    y = x[: x[0]]
    x[0] = y[0]


ARGUMENTS = (np.zeros(8, np.float32),)
