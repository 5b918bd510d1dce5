# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    if isinstance(x[0], f32):
        x[0] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
