# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    v = x.vectorized(4)[0]
    v[0] = 1.0
    v[1] += 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
