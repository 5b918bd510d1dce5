# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


WEIGHTS = (0.25, 0.5, 0.25)


def kernel(x: Array[f32]):
    x[0] = WEIGHTS[3]


ARGUMENTS = (np.zeros(8, np.float32),)
