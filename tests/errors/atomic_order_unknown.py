# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, u32


def kernel(u: Array[u32]):
    cb.atomic_add(u, 0, 1, order="sequential")


ARGUMENTS = (np.zeros(8, np.uint32),)
