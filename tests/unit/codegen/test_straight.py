"""Neighbours taken for straight: quotients, remainders and clamps in subscripts, over widths and
limits that gangs keep to, cross, and never keep to; against NumPy, bit by bit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, f32, i32, i64

TARGETS = ("cpu", "cpu:x86-64-v2", "cpu+without=facts", "cpu+gang=8", "cpu+without=straight")
LENGTH = 1000
Kernel = Callable[..., Any]

every_target = pytest.mark.parametrize("target", TARGETS)


def numbers(*shape: int) -> np.ndarray[Any, Any]:
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def read(x: np.ndarray[Any, Any], places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What a checked load reads: 0 outside."""
    inside = (places >= 0) & (places < x.size)
    return np.where(inside, x[np.where(inside, places, 0)], 0).astype(np.float32)


@cb.cube
def turned(x: Array[f32], width: i32, out: Array[f32]) -> None:
    """Other rows, by quotient and remainder."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        row, column = i // width, i % width
        out[i] = x[(row ^ 1) * width + column]


@every_target
@pytest.mark.parametrize("width", [1, 2, 7, 8, 31, 32, 33, 40, 63, 64, 500, 1000, 5000, 0, -1, -40])
def test_quotients_and_remainders(target: str, width: int) -> None:
    x, out = numbers(LENGTH), np.full(LENGTH, -1, np.float32)
    turned.over(LENGTH, device=target)(x, width, out)
    i = np.arange(LENGTH)
    row, column = (i // width, i % width) if width else (0 * i, 0 * i)
    assert np.array_equal(out, read(x, (row ^ 1) * width + column))


@cb.cube
def shifted(x: Array[f32], by: i64, low: i64, high: i64, out: Array[f32]) -> None:
    """A clamped neighbour, and one that counts down."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        there = min(max(i + by, low), high)
        back = max(min(high, by - i), low)
        out[i] = x[there] - 2.0 * x[back]


LIMITS = [(0, LENGTH - 1), (0, 0), (-7, 5000), (40, 900), (900, 40), (1 << 62, -(1 << 62)),
          (-(1 << 63), (1 << 63) - 1)]  # fmt: skip


@every_target
@pytest.mark.parametrize("by", [0, -1, 1, 33, -64, 999, 2000, (1 << 63) - 10, -(1 << 63)])
def test_clamps(target: str, by: int) -> None:
    x = numbers(LENGTH)
    for low, high in LIMITS:
        out = np.full(LENGTH, -1, np.float32)
        shifted.over(LENGTH, device=target)(x, by, low, high, out)
        i = np.arange(LENGTH)
        there = np.minimum(np.maximum(i + np.int64(by), low), high)
        back = np.maximum(np.minimum(np.int64(high), np.int64(by) - i), low)
        assert np.array_equal(out, read(x, there) - 2 * read(x, back)), (low, high)


@cb.cube
def blurred(field: Tensor[f32], reach: i32, out: Tensor[f32]) -> None:
    """Sums of neighbours in loops, where the border repeats itself."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    if y < out.shape[0] and x < out.shape[1]:
        total = 0.0
        for dy in range(-reach, reach + 1):
            row = cb.clamp(y + dy, 0, field.shape[0] - 1)
            for dx in range(-reach, reach + 1):
                total += field[row, cb.clamp(x + dx, 0, field.shape[1] - 1)]
        out[y, x] = total


@every_target
@pytest.mark.parametrize("shape", [(1, 1), (3, 70), (20, 33), (5, 200), (64, 7)])
def test_clamps_in_loops(target: str, shape: tuple[int, int]) -> None:
    field = numbers(*shape)
    for reach in (0, 1, 3):
        out = np.zeros_like(field)
        blurred.over(shape, device=target)(field, reach, out)
        padded = np.pad(field, reach, mode="edge")
        sides = range(2 * reach + 1)
        total = np.zeros_like(field)
        for dy in sides:
            for dx in sides:
                total += padded[dy : dy + shape[0], dx : dx + shape[1]]
        assert np.array_equal(out, total)


@cb.cube
def counted(x: Array[f32], width: i32, seen: Array[i32], out: Array[f32]) -> None:
    """A count before the division: a gang must not start again once it has counted."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        cb.atomic_add(seen, 0, 1)
        out[i] = x[(i // width) * width]


@every_target
@pytest.mark.parametrize("width", [3, 33, 400])
def test_nothing_happens_twice(target: str, width: int) -> None:
    x, out, seen = numbers(LENGTH), np.zeros(LENGTH, np.float32), np.zeros(1, np.int32)
    counted.over(LENGTH, device=target)(x, width, seen, out)
    assert seen[0] == LENGTH
    assert np.array_equal(out, x[np.arange(LENGTH) // width * width])


@cb.cube
def picked(x: Array[f32], places: Array[i32], wide: Array[i64], out: Array[f32]) -> None:
    """Elements from anywhere, also from outside."""
    i = cb.ABSOLUTE_POS
    out[i] = x[places[i]] + 2.0 * x[wide[i]]


@every_target
def test_gathers_are_tested(target: str) -> None:
    chance = np.random.default_rng(5)
    x = numbers(300)
    for low, high in ((0, 300), (-1, 300), (0, 301), (-(1 << 31), (1 << 31) - 1)):
        places = chance.integers(low, high, LENGTH, np.int32)
        wide = chance.integers(low, high, LENGTH, np.int64)
        wide[[3, 70, 71]] = -(1 << 63), (1 << 63) - 1, 1 << 32
        out = np.zeros(LENGTH, np.float32)
        picked.over(LENGTH, device=target)(x, places, wide, out)
        assert np.array_equal(out, read(x, places) + 2 * read(x, wide))


@cb.cube
def spread(values: Array[f32], places: Array[i32], out: Array[f32]) -> None:
    """Elements to anywhere, also to outside."""
    i = cb.ABSOLUTE_POS
    if i < len(values):
        out[places[i]] = values[i]


@every_target
def test_scatters_are_tested(target: str) -> None:
    places = np.random.default_rng(6).permutation(3 * LENGTH)[:LENGTH].astype(np.int32) - LENGTH
    values, out = numbers(LENGTH), np.zeros(LENGTH, np.float32)
    spread.over(LENGTH, device=target)(values, places, out)
    expected = np.zeros(LENGTH, np.float32)
    inside = (places >= 0) & (places < LENGTH)
    expected[places[inside]] = values[inside]
    assert np.array_equal(out, expected)


def test_a_picture_with_borders_needs_no_gather() -> None:
    """In the straight version, which is written first."""
    field = numbers(20, 64)
    text = blurred.over(field.shape).inspect(field, 1, field.copy(), target="cpu:x86-64-v4").llvm
    straight, _, rest = text.partition("usual:")
    assert rest
    assert "gather" not in straight.partition("fast:")[2]
