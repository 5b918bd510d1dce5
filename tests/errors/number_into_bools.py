# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(f: Array[bool], x: Array[f32]):
    f[0] = x[0]


ARGUMENTS = (np.zeros(8, np.bool_), np.zeros(8, np.float32))
