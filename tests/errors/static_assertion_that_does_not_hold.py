# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    cb.static_assert(x.ndim == 2, "give a matrix")


ARGUMENTS = (np.zeros(8, np.float32),)
