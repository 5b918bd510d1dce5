# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    total = 0.0
    for value in x:
        total += value
    x[0] = total


ARGUMENTS = (np.zeros(8, np.float32),)
