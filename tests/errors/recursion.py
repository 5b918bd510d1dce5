# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32, i32


def factorial(n: i32) -> i32:
    if n < 2:
        return 1
    return n * factorial(n - 1)


def kernel(x: Array[f32]):
    x[0] = f32(factorial(3))


ARGUMENTS = (np.zeros(8, np.float32),)
