# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32, u64


def kernel(x: Array[f32]):
    x[0] = f32(cb.bitcast(u64, x[1]))


ARGUMENTS = (np.zeros(8, np.float32),)
