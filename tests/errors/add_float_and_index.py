# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(a: f32, x: Array[f32], y: Array[f32]):
    i = cb.ABSOLUTE_POS
    y[i] = a * x[i] + i


ARGUMENTS = (2.0, np.zeros(8, np.float32), np.zeros(8, np.float32))
