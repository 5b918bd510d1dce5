# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Tensor, f32


@cb.cube
def scale(x: Tensor[f32], factor: f32):
    x[0] *= factor


def run():
    scale.over(1)(np.zeros((), np.float32), 2.0)
