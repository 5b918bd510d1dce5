# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32, i32


def kernel(x: Array[f32], n: Array[i32]):
    value = n[0]
    if x[0] > 0.0:
        value = x[1]
    n[1] = value


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.int32))
