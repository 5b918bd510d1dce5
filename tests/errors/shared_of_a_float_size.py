# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    tile = cb.shared(f32, 4.5)
    x[0] = tile[0]


ARGUMENTS = (np.zeros(8, np.float32),)
