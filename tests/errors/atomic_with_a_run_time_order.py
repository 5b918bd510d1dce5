# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, i32


def kernel(x: Array[i32]):
    cb.atomic_store(x, 0, 1, order=x[1])


ARGUMENTS = (np.zeros(4, np.int32),)
