# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32, i32


@cb.cube
def shift(x: Array[f32], count: i32):
    x[0] = f32(count)


def run():
    shift.over(1)(np.zeros(8, np.float32), True)
