# mypy: ignore-errors
# ruff: noqa
import math

import numpy as np

from cubepy import Array, f32


def kernel(x: Array[f32]):
    import math

    x[0] = math.pi


ARGUMENTS = (np.zeros(8, np.float32),)
