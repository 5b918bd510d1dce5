# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32], n: int):
    for k in range(0, n, 0):
        x[k] = 0.0


ARGUMENTS = (np.zeros(8, np.float32), 3)
