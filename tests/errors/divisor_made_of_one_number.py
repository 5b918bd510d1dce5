# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, u32


def kernel(x: Array[u32]):
    x[0] = cb.FastDivmod(7).divide(x[0])


ARGUMENTS = (np.zeros(8, np.uint32),)
