# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Tensor, f32


@cb.cube
def kernel(m: Tensor[f32], out: Tensor[f32]):
    y, x = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
    out[y, x] = m[y - 1, x]


def run():
    m = np.zeros((3, 5), np.float32)
    kernel.over(m.shape, device="cpu", check="validate")(m, np.zeros_like(m))
