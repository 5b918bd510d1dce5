# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array


def kernel(f: Array[bool]):
    if f[0] < f[1]:
        f[0] = True


ARGUMENTS = (np.zeros(8, np.bool_),)
