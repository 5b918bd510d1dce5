# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, i32


def kernel(s: Array[i32]):
    for k in reversed(range(s[0], s[1])):
        s[2] += k
    for k in reversed(range(s[0] + 1)):
        s[2] += k
    for k in range(10)[s[0] : s[1]]:
        s[2] += k


ARGUMENTS = (np.zeros(8, np.int32),)
