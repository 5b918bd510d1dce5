# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array


def kernel(x: Array[str]):
    x[0] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
