# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    i = cb.UNIT_POS
    x[i] = cb.intrinsic("cpu", "llvm.frexp", x[i], fallback=lambda v: (v, v))


ARGUMENTS = (np.zeros(8, np.float32),)
