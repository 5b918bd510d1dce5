# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, Comptime, f32


def times(value, count: Comptime[int]):
    return value * count


@cb.cube
def kernel(x: Array[f32]):
    x[0] = times(x[1], 2.5)


ARGUMENTS = (np.zeros(4, np.float32),)
