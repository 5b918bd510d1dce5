# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32, u32


def kernel(u: Array[u32], x: Array[f32]):
    cb.atomic_add(u, 0, x[0])


ARGUMENTS = (np.zeros(8, np.uint32), np.zeros(8, np.float32))
