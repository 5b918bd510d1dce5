# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32

WEIGHTS = [1.0, 2.0]


def kernel(x: Array[f32]):
    for weight in WEIGHTS:
        x[0] += weight


ARGUMENTS = (np.zeros(8, np.float32),)
