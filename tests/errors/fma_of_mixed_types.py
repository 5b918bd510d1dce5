# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32, f64, i64


def kernel(x: Array[f32], n: Array[f64]):
    x[0] = cb.fma(x[0], x[1], i64(3))


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8))
