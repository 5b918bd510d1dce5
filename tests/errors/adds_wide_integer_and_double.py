# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f64, i64


def kernel(k: Array[i64], d: Array[f64]):
    d[0] = d[1] + k[0]


ARGUMENTS = (np.zeros(8, np.int64), np.zeros(8))
