# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, i32


def kernel(x: Array[i32]):
    x[1] = cb.atomic_load(x, 0, order="release")


ARGUMENTS = (np.zeros(4, np.int32),)
