# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32], y: np.ndarray):
    x[0] = y[0]


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.float32))
