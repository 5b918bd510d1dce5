# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    @cb.cube
    def double(v):
        return 2.0 * v

    x[0] = double(x[1])


ARGUMENTS = (np.zeros(8, np.float32),)
