# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    x[0] = cb.select(x[1], x[2], x[3])


ARGUMENTS = (np.zeros(8, np.float32),)
