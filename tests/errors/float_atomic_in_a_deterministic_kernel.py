# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.cube(deterministic=True)
def kernel(x: Array[f32], out: Array[f32]):
    cb.atomic_add(out, 0, x[cb.ABSOLUTE_POS])


def run():
    kernel.over(8)(np.zeros(8, np.float32), np.zeros(1, np.float32))
