# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Tensor, f32


def kernel(m: Tensor[f32]):
    m[0, 0] = m[1] + 1.0


ARGUMENTS = (np.zeros((4, 4), np.float32),)
