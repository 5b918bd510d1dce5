# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, Comptime, f32


@cb.cube
def fill(x: Array[f32], weights: Comptime[object] = ()):
    x[0] = 1.0


def run():
    fill.launch(np.zeros(8, np.float32), total=8)
