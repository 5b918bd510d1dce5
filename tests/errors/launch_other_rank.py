# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def scale(x: Array[f32], factor: f32):
    x[cb.ABSOLUTE_POS] *= factor


def run():
    scale.over(8)(np.zeros((2, 4), np.float32), 2.0)
