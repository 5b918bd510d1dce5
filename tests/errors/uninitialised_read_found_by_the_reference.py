# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def fill(x: Array[f32]):
    own = cb.local_array(f32, 4)
    own[0] = 1.0
    x[0] = own[1]


def run():
    fill.over(1, device="reference")(np.zeros(8, np.float32))
