# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def fill(x: Array[f32]):
    i = cb.ABSOLUTE_POS
    assert x[i] >= 0.0, "negative"
    x[i] = cb.sqrt(x[i])


def run():
    fill.over(4, device="reference")(np.array([1.0, -1.0, 2.0, -2.0], np.float32))
