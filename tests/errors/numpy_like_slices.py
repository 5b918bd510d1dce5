# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32], out: Array[f32]) -> None:
    out[:] = x[:] * 2.0
    out[:] = x[cb.ABSOLUTE_POS]


ARGUMENTS = (np.zeros(4, np.float32), np.zeros(4, np.float32))
