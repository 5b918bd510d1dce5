# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Tensor, f32


@cb.cube
def fill(x: Tensor[f32]):
    x[cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X] = 1.0


def run():
    row = np.zeros((1, 4), np.float32)
    fill.over((3, 4))(np.lib.stride_tricks.as_strided(row, (3, 4), (0, 4)))
