# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import f32


def kernel(x: "Arry[f32]"):
    x[0] = 1.0


ARGUMENTS = (np.zeros(8, np.float32),)
