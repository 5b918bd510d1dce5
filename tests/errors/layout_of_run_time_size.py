# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    pairs = x.view(cb.Layout.strided((len(x) // 2, 2)))
    x[0] = pairs[1, 0]


ARGUMENTS = (np.zeros(8, np.float32),)
