# mypy: ignore-errors
import numpy as np

from cubepy import Array, i32


def kernel(x: Array[i32]):
    x[0] = x[1] * 0.5


ARGUMENTS = (np.zeros(8, np.int32),)
