# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, u8


def kernel(b: Array[u8]):
    b[0] = -1


ARGUMENTS = (np.zeros(8, np.uint8),)
