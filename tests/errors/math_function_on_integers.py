# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32, i32


def kernel(n: Array[i32], x: Array[f32]):
    x[0] = cb.log(n[0])


ARGUMENTS = (np.zeros(8, np.int32), np.zeros(8, np.float32))
