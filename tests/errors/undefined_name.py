# ruff: noqa: F821
# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    i = cb.ABSOLUTE_POS
    x[i] = valeu * 2.0


ARGUMENTS = (np.zeros(8, np.float32),)
