# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    if x[0] < 0.0:
        raise ValueError("negative")


ARGUMENTS = (np.zeros(8, np.float32),)
