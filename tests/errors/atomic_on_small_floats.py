# mypy: ignore-errors
# ruff: noqa
import ml_dtypes
import numpy as np

import cubepy as cb
from cubepy import Array


def kernel(x: Array[cb.e4m3]):
    cb.atomic_add(x, 0, 1.0)


ARGUMENTS = (np.zeros(8, ml_dtypes.float8_e4m3fn),)
