# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    x[0] = math.exp(x[1])


ARGUMENTS = (np.zeros(8, np.float32),)
