# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array


def kernel(f: Array[bool]):
    cb.atomic_or_(f, 0, True)


ARGUMENTS = (np.zeros(8, np.bool_),)
