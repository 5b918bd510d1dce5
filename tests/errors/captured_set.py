# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


ODD = {1, 3, 5}


def kernel(x: Array[f32]):
    if 3 in ODD:
        x[0] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
