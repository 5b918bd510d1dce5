# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, i32


def kernel(x: Array[i32]):
    cb.atomic_add(x, 0, 1, order="seq_cst")


ARGUMENTS = (np.zeros(4, np.int32),)
