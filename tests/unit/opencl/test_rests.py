"""Rests of tiny numbers: libraries of drivers scale them, and some then leave the divisor."""

from typing import Any, TypeVar

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array
from tests.opencl_devices import on_each

F = TypeVar("F", bound=cb.Float)


@cb.cube
def rests(a: Array[F], b: Array[F], out: Array[F], floored: Array[F]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = cb.fmod(a[i], b[i])
    floored[i] = a[i] % b[i]


@pytest.mark.parametrize("target", on_each())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_multiples_of_tiny_numbers_leave_nothing(target: str, dtype: Any) -> None:
    tiny = np.finfo(dtype).smallest_normal
    random = np.random.default_rng(5)
    divisors = random.uniform(tiny / 3, 3 * tiny, 50_000).astype(dtype)
    factors = random.integers(1, 6, divisors.size).astype(dtype)
    numbers = divisors * factors * random.choice(np.array([-1, 1], dtype), divisors.size)
    numbers[::7] += tiny / 8
    out, floored = np.empty_like(numbers), np.empty_like(numbers)
    rests.over(numbers.size, device=target)(numbers, divisors, out, floored)
    np.testing.assert_array_equal(out, np.fmod(numbers, divisors))
    np.testing.assert_array_equal(floored, np.mod(numbers, divisors))
