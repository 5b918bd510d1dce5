# mypy: ignore-errors
import numpy as np

from cubepy import Array, Vector, f32


def kernel(x: Array[f32], v: Vector):
    x[0] = v[0]


ARGUMENTS = (np.zeros(8, np.float32), (1.0, 2.0))
