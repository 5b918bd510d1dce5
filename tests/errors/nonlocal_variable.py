# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def make():
    total = 0.0

    def kernel(x: Array[f32]):
        nonlocal total
        total = x[0]

    return kernel


def run():
    cb.cube(make()).over(8)(np.zeros(8, np.float32))
