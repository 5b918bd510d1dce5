# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    own = cb.local_array(f32, 4, "zero")
    x[0] = own[0]


ARGUMENTS = (np.zeros(8, np.float32),)
