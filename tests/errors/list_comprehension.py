# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    values = [x[k] for k in range(3)]
    x[0] = values[0]


ARGUMENTS = (np.zeros(8, np.float32),)
