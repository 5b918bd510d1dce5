# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def blur(x: Array[f32]):
    i = cb.ABSOLUTE_POS
    x[i] = (x[i] + x[i + 1]) / 2.0


def run():
    blur.over(8, device="reference")(np.ones(8, np.float32))
