# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f16


def kernel(h: Array[f16]):
    h[0] = h[1] * 1e6


ARGUMENTS = (np.zeros(8, np.float16),)
