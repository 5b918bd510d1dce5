# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    cb.sync_threads()
    x[cb.ABSOLUTE_POS] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
