# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    x[0] = super().area(2.0)


ARGUMENTS = (np.zeros(8, np.float32),)
