# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, Comptime, f32


@cb.cube
def kernel(x: Array[f32], count: Comptime[int]):
    x[0] = f32(count)


ARGUMENTS = (
    np.zeros(4, np.float32),
    2.5,
)
