"""`cb.argmin` and `cb.argmax`: NumPy's answers, ties and NaN included."""

import itertools
from typing import TypeVar

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, i32

N = TypeVar("N", bound=cb.Number)
VALUES = (-np.inf, -1.0, -0.0, 0.0, 2.0, np.inf, np.nan)


@cb.cube
def of_numbers(x: Tensor[N], low: Array[i32], high: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(low):
        a, b, c, d = x[i, 0], x[i, 1], x[i, 2], x[i, 3]
        low[i] = i32(cb.argmin(a, b, c, d))
        high[i] = i32(cb.argmax((a, b, c, d)))


@cb.cube
def of_vectors(x: Array[N], low: Array[i32], high: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(low):
        v = x.vectorized(4)[i]
        low[i] = i32(cb.argmin(v))
        high[i] = i32(cb.argmax(v))


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int8, np.uint32, np.int64]
)
def test_the_first_nan_wins_then_the_lowest_number(device: str, dtype: str) -> None:
    every = np.array(list(itertools.product(VALUES, repeat=4)))
    if np.dtype(dtype).kind != "f":
        every = np.nan_to_num(every, nan=7, posinf=100, neginf=0).clip(0)
    x = every.astype(dtype)
    low, high = np.full((2, len(x)), -1, np.int32)
    of_numbers.over(len(x), device=device)(x, low, high)
    np.testing.assert_array_equal(low, x.argmin(axis=1))
    np.testing.assert_array_equal(high, x.argmax(axis=1))
    low[:], high[:] = -1, -1
    of_vectors.over(len(x), device=device)(x.reshape(-1), low, high)
    np.testing.assert_array_equal(low, x.argmin(axis=1))
    np.testing.assert_array_equal(high, x.argmax(axis=1))


@cb.cube
def with_literals(x: Array[N], out: Array[i32]) -> None:
    out[0] = i32(cb.argmax(1, x[0], 3))
    out[1] = i32(cb.argmin(x[0], 1, 3, x[1]))


def test_literals_take_the_type_of_the_others() -> None:
    for dtype in (np.float32, np.float64, np.int16):
        out = np.zeros(2, np.int32)
        with_literals.over(1)(np.array([2, 0], dtype), out)
        assert out.tolist() == [2, 3]
