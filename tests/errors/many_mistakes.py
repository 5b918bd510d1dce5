# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    a = b1 + 1
    x[0] = a
    x[1] = b2
    x[2] = b3 + b4
    for k in range(b5):
        x[k] = b6
    if b7:
        x[3] = b8
    else:
        x[4] = b9


ARGUMENTS = (np.zeros(8, np.float32),)
