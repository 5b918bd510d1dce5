# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, f64


def kernel(d: Array[f64]):
    v: f32 = d[0]
    d[0] = v


ARGUMENTS = (np.zeros(8),)
