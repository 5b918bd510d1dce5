# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def make(scales):
    @cb.cube
    def kernel(x: Array[f32]):
        x[0] = x[1] * scales[0]

    return kernel


def run():
    make([1.0, 2.0]).over(8)(np.zeros(8, np.float32))
