# mypy: ignore-errors
# ruff: noqa
import numpy as np


def kernel(x: 3):
    x[0] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
