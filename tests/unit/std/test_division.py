"""FastDivmod gives Python's quotient and rest for every divisor, as an argument or a constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cubepy as cb
from cubepy import Array, Comptime, u32
from cubepy.errors import ArgumentError

LARGEST = 2**32 - 1
ENDS = (0, 1, 2, 3, 6, 7, 2**16, 2**31 - 1, 2**31, 2**31 + 1, LARGEST - 1, LARGEST)


@cb.cube
def by_an_argument(
    x: Array[u32], by: cb.FastDivmod, quotients: Array[u32], rests: Array[u32]
) -> None:
    i = cb.ABSOLUTE_POS
    quotients[i], rests[i] = by.divmod(x[i])


@cb.cube
def by_a_constant(
    x: Array[u32], by: Comptime[cb.FastDivmod], quotients: Array[u32], rests: Array[u32]
) -> None:
    i = cb.ABSOLUTE_POS
    quotients[i] = by.divide(x[i])
    rests[i] = x[i] - by.divide(x[i]) * by.divisor


@cb.cube
def by_one_made_inside(
    x: Array[u32], by: Comptime[cb.FastDivmod], quotients: Array[u32], rests: Array[u32]
) -> None:
    i = cb.ABSOLUTE_POS
    quotients[i], rests[i] = cb.FastDivmod.of(by.divisor).divmod(x[i])


def around(divisor: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """The ends of u32, and the neighbours of multiples of the divisor."""
    multiples = [divisor * k for k in (1, 2, 3, 1000, LARGEST // divisor)]
    near = [multiple + step for multiple in multiples for step in (-1, 0, 1)]
    return np.array([*ENDS, *(value for value in near if 0 <= value <= LARGEST)], np.uint32)


def check(kernel: Any, divisor: int, device: str) -> None:
    x = around(divisor)
    quotients, rests = np.zeros_like(x), np.zeros_like(x)
    kernel.over(x.size, device=device)(x, cb.FastDivmod.of(divisor), quotients, rests)
    assert quotients.tolist() == [int(value) // divisor for value in x]
    assert rests.tolist() == [int(value) % divisor for value in x]


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("divisor", [end for end in ENDS if end])
def test_divisors_at_the_ends(divisor: int, device: str) -> None:
    check(by_an_argument, divisor, device)
    check(by_a_constant, divisor, device)
    check(by_one_made_inside, divisor, device)


@given(st.integers(1, LARGEST) | st.integers(0, 31).map(lambda bits: (1 << bits) + 1))
def test_any_divisor(divisor: int) -> None:
    check(by_an_argument, divisor, "cpu")


def test_no_division_is_left() -> None:
    x = np.zeros(64, np.uint32)
    stages = by_an_argument.over(64).inspect(x, cb.FastDivmod.of(7), x.copy(), x.copy())
    assert " = floor_div" not in stages.optimized_ir
    assert " = mul_hi" in stages.optimized_ir


@pytest.mark.parametrize("divisor", [0, -3, 2**32])
def test_other_divisors_are_refused(divisor: int) -> None:
    with pytest.raises(ArgumentError, match="FastDivmod divides by 1 to 4294967295, not by"):
        cb.FastDivmod.of(divisor)


def test_a_number_in_place_of_a_divisor_is_told_of_the_maker() -> None:
    x = np.zeros(8, np.uint32)
    kernel: Any = by_an_argument
    with pytest.raises(ArgumentError, match=r"help: pass FastDivmod\.of\(…\)"):
        kernel.over(8)(x, 7, x.copy(), x.copy())
