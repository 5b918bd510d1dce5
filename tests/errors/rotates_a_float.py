# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    x[0] = cb.rotl(x[1], 3)


ARGUMENTS = (np.zeros(8, np.float32),)
