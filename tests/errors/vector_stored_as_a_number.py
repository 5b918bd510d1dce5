# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    v = x.vectorized(4)[0]
    x[0] = v
    x.vectorized(2)[0] = v
    x[1] = v.x
    x[2] = cb.insert(x[0], 0, 1.0)
    x[3] = x.vectorized(4) + 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
