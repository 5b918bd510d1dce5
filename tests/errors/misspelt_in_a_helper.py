# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def inner(v: f32):
    return cb.sqrtt(v)


def outer(v: f32):
    return inner(v) + 1.0


def kernel(x: Array[f32]):
    i = cb.ABSOLUTE_POS
    x[i] = outer(x[i])


ARGUMENTS = (np.zeros(8, np.float32),)
