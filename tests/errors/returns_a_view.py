# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def rest(x):
    return x[1:]


def kernel(x: Array[f32]):
    x[0] = rest(x)[0]


ARGUMENTS = (np.zeros(8, np.float32),)
