# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, u32


def kernel(u: Array[u32]):
    own = cb.local_array(u32, 4, 0)
    cb.atomic_add(own, 0, 1)
    u[0] = own[0]


ARGUMENTS = (np.zeros(8, np.uint32),)
