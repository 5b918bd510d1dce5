# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    print("x is", x)
    x[cb.UNIT_POS] = 0.0


ARGUMENTS = (np.zeros(4, np.float32),)
