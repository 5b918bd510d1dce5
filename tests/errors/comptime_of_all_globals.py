# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32

FACTOR = 2.0


def kernel(x: Array[f32]):
    x[0] *= cb.comptime(globals()["FACTOR"])


ARGUMENTS = (np.zeros(8, np.float32),)
