# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    assert x[cb.UNIT_POS], "not zero"


ARGUMENTS = (np.zeros(4, np.float32),)
