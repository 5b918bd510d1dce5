# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32], n: int):
    for k in cb.unroll(range(n)):
        x[k] = 0.0


ARGUMENTS = (np.zeros(8, np.float32), 4)
