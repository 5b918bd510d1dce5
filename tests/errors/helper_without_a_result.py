# ruff: noqa: RET503
# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


def sign(v):
    if v > 0.0:
        return 1.0


def kernel(x: Array[f32]):
    x[0] = sign(x[0])


ARGUMENTS = (np.zeros(8, np.float32),)
