# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


@cb.cube
def other(x: Array[f32]):
    x[0] = 1.0


def kernel(x: Array[f32], out: Array[f32]):
    other.over(8)(x)
    other[1, 8](x)
    other.launch(x, cube_count=1, cube_dim=8)


ARGUMENTS = (
    np.zeros(4, np.float32),
    np.zeros(4, np.float32),
)
