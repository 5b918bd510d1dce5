# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Tensor, f32


@cb.cube
def doubled(x: Tensor[f32]):
    row, column = cb.ABSOLUTE_POS
    x[row, column] *= 2.0


def run():
    x = np.zeros((2, 3), np.float32)
    doubled.over(x.shape)(x)
