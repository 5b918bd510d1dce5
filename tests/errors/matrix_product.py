# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Tensor, f32


def kernel(a: Tensor[f32], b: Tensor[f32]):
    a[0, 0] = a @ b


ARGUMENTS = (np.zeros((4, 4), np.float32), np.zeros((4, 4), np.float32))
