# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32, u8


@cb.cube
def shift(x: Array[f32], count: u8):
    x[0] = f32(count)


def run():
    shift.over(1)(np.zeros(8, np.float32), 256)
