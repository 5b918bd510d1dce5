# mypy: ignore-errors
# ruff: noqa
import ml_dtypes
import numpy as np

import cubepy as cb
from cubepy import Array


def kernel(x: Array[cb.e5m2]):
    x[0] = cb.i32(cb.ABSOLUTE_POS)


ARGUMENTS = (np.zeros(8, ml_dtypes.float8_e5m2),)
