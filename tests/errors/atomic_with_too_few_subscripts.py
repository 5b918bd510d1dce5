# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Tensor, f32


def kernel(m: Tensor[f32]):
    cb.atomic_add(m, 0, 1.0)


ARGUMENTS = (np.zeros((4, 4), np.float32),)
