# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    x[i] = f32(cb.argmin(x[i]))


ARGUMENTS = (np.zeros(8, np.float32),)
