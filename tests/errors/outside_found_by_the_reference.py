# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32


@cb.cube
def shift(m: Tensor[f32], out: Array[f32]):
    i = cb.ABSOLUTE_POS
    out[i] = m[0, i]


def run():
    m = np.zeros((4, 4), np.float32)
    shift.over(8, device="reference", check="validate")(m, np.zeros(8, np.float32))
