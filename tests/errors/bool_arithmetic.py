# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    positive = x[0] > 0.0
    x[0] = f32(positive + 1)


ARGUMENTS = (np.zeros(8, np.float32),)
