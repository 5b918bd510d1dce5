# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    x[2:4] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
