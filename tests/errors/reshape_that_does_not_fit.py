# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    memory = cb.shared(f32, 64)
    table = memory.reshape(5, 13)
    table[0, 0] = x[0]


ARGUMENTS = (np.zeros(8, np.float32),)
