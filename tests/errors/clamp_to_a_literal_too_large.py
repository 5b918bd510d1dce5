# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, u8


def kernel(b: Array[u8]):
    b[0] = cb.clamp(b[1], 0, 300)


ARGUMENTS = (np.zeros(8, np.uint8),)
