# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, bf16, f16


def kernel(h: Array[f16]):
    h[0] = h[1] + bf16(1.0)


ARGUMENTS = (np.zeros(8, np.float16),)
