# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32

TABLE = np.arange(4)


def kernel(x: Array[f32]):
    x[0] = f32(TABLE[0])


ARGUMENTS = (np.zeros(8, np.float32),)
