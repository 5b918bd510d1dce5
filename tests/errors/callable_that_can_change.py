# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


class Scale:
    def __init__(self):
        self.factor = 2.0

    def __call__(self, value):
        return value * self.factor


scale = Scale()


def kernel(x: Array[f32]):
    x[0] *= scale(3.0)
    x[1] *= scale.factor


ARGUMENTS = (np.zeros(8, np.float32),)
