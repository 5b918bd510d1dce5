# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    cb.static_assert(cb.CUBE_DIM % 48 == 0, "the cube must be a multiple of 48")
    x[cb.UNIT_POS] = 0.0


ARGUMENTS = (np.zeros(4, np.float32),)
