# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def shift(x: Array[f32], out: Array[f32]):
    i = cb.ABSOLUTE_POS
    out[i] = x[i + 1]


def run():
    x = np.zeros(8, np.float32)
    shift.over(8, device="cpu", check="validate")(x, np.zeros(8, np.float32))
