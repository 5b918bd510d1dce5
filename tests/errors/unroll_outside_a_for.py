# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    trips = cb.unroll(range(3))
    x[0] = f32(len(trips))


ARGUMENTS = (np.zeros(8, np.float32),)
