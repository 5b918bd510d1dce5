# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32], n: int):
    for k in range(n):
        last = x[k]
    x[0] = last


ARGUMENTS = (np.zeros(8, np.float32), 3)
