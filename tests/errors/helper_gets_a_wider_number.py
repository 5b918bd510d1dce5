# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32, f64


def half(v: f32) -> f32:
    return v * 0.5


def kernel(d: Array[f64]):
    d[0] = half(d[1])


ARGUMENTS = (np.zeros(8),)
