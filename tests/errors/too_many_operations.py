# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    for i in cb.unroll(range(100)):
        for j in cb.unroll(range(100)):
            for k in cb.unroll(range(10)):
                x[i] += x[j] * x[k]


ARGUMENTS = (np.zeros(8, np.float32),)
