# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, u32


def kernel(bins: Array[u32]):
    cb.atomic_add(bins[0], 1)


ARGUMENTS = (np.zeros(8, np.uint32),)
