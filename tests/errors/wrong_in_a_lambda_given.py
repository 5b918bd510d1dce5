# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, Comptime, f32


def kernel(x: Array[f32], function: Comptime[object]):
    x[0] = function(x[1])


ARGUMENTS = (np.zeros(8, np.float32), lambda v: v + "1")
