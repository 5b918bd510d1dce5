# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32], y: Array[f32]):
    y[0] = x * 2.0


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.float32))
