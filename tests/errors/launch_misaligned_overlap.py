# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def copy(x: Array[f32], y: Array[f32]):
    y[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS]


def run():
    memory = np.zeros(64, np.uint8)
    x = memory[1:33].view(np.float32)
    copy.over(8)(x, memory[:32].view(np.float32))
