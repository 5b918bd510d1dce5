# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def copy(x: Array[f32], y: Array[f32]):
    y[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS]


def run():
    x = cb.device("reference").array(np.zeros(8, np.float32))
    y = cb.device("cpu").array(np.zeros(8, np.float32))
    copy.over(8)(x, y)
