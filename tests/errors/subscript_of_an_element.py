# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Tensor, f32, u8


def kernel(a: Tensor[u8], x: Tensor[f32]):
    i = cb.ABSOLUTE_POS
    s = a[i]
    x[0] = s[i]
    v = x[i] + 1.0
    x[1] = v[i]


ARGUMENTS = (np.zeros(8, np.uint8), np.zeros(8, np.float32))
