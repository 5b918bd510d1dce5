"""Loops of each unit's own length over scattered elements: one unit at a time, with what lies along
the loop's range tested ahead of it; against plain Python, with ranges that reach outside.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cubepy as cb
from cubepy import Array, Tensor, f32, i32, i64, u32, u64
from cubepy.errors import OutOfBoundsError
from cubepy.target import Topic
from tests.targets import on_targets

TARGETS = on_targets(
    "cpu", "cpu+without=alone", "cpu+without=ranges", "cpu+gang=1", "cpu:x86-64-v2",
    "cpu:x86-64-v3+without=alone,ranges", "cpu+without=facts",
)  # fmt: skip
every_target = pytest.mark.parametrize("target", TARGETS)


@cb.cube
def product(
    start: Array[i32], column: Array[i32], value: Array[f32], x: Array[f32], out: Array[f32]
) -> None:
    """Rows of a sparse matrix times a vector."""
    row = cb.ABSOLUTE_POS
    if row < len(out):
        total = 0.0
        for k in range(start[row], start[row + 1]):
            total += value[k] * x[column[k]]
        out[row] = total


def element(array: np.ndarray[Any, Any], at: int) -> Any:
    """What a checked load gives: 0 outside."""
    return array[at] if 0 <= at < len(array) else array.dtype.type(0)


def expected_product(*arrays: np.ndarray[Any, Any], rows: int) -> np.ndarray[Any, Any]:
    start, column, value, x = arrays
    out = np.zeros(rows, np.float32)
    for row in range(rows):
        total = np.float32(0)
        for k in range(element(start, row), element(start, row + 1)):
            total += element(value, k) * element(x, int(element(column, k)))
        out[row] = total
    return out


def matrix(rows: int, longest: int, *, wild: bool) -> tuple[np.ndarray[Any, Any], ...]:
    numbers = np.random.default_rng([rows, longest, wild])
    start = np.concatenate([[0], np.cumsum(numbers.integers(0, longest + 1, rows))])
    count = int(start[-1])
    column = numbers.integers(-9 if wild else 0, 50 + 9 * wild, count)
    if wild:
        start += numbers.integers(-9, 10, rows + 1)
    value, x = numbers.random(count, np.float32), numbers.random(50, np.float32)
    return start.astype(np.int32), column.astype(np.int32), value, x


@every_target
@pytest.mark.parametrize("ranges", ["sound", "wild"])
def test_rows_of_their_own_length(target: str, ranges: str) -> None:
    for rows, longest in ((1, 0), (1, 5), (7, 3), (64, 9), (65, 40), (300, 4)):
        arrays, out = matrix(rows, longest, wild=ranges == "wild"), np.full(rows, -1, np.float32)
        product.over(rows, device=target)(*arrays, out)
        assert np.array_equal(out, expected_product(*arrays, rows=rows)), (rows, longest)


def test_more_units_than_rows_and_shorter_arrays() -> None:
    start, column, value, x = matrix(40, 8, wild=False)
    for starts, count in ((start, 40), (start[:20], 40), (start[:0], 5)):
        out = np.full(count, -1, np.float32)
        product.over(64)(starts, column[:-20], value[:-5], x[:11], out)
        want = expected_product(starts, column[:-20], value[:-5], x[:11], rows=count)
        assert np.array_equal(out, want)


@pytest.mark.parametrize("target", ["cpu", "cpu+without=ranges"])
def test_outside_of_a_range_is_reported(target: str) -> None:
    start, column, value, x = matrix(20, 8, wild=False)
    out = np.zeros(20, np.float32)
    product.over(20, device=target, check="validate")(start, column, value, x, out)
    with pytest.raises(OutOfBoundsError, match="value"):
        product.over(20, device=target, check="validate")(start, column, value[:-1], x, out)
    column[7] = 50
    with pytest.raises(OutOfBoundsError, match="x"):
        product.over(20, device=target, check="validate")(start, column, value, x, out)


@cb.cube
def first_above(
    start: Array[i32], column: Array[i32], x: Array[f32], low: f32, out: Array[f32]
) -> None:  # fmt: skip
    """Branches, exits of all kinds and a second loop in a ragged one."""
    row = cb.ABSOLUTE_POS
    if row >= len(out) or start[row] < 0:
        return
    total = -1.0
    for k in range(start[row], start[row + 1]):
        at = column[k]
        if at % 5 == 4:
            continue
        if x[at] > low:
            total = x[at] + x[at + 1]
            break
        for j in range(at, column[k + 1]):
            total -= x[j]
            if total < -9.0:
                out[row] = total
                return
    else:
        total = 7.0
    out[row] = total


def expected_first(
    start: np.ndarray[Any, Any], column: np.ndarray[Any, Any], x: np.ndarray[Any, Any], low: float
) -> np.ndarray[Any, Any]:
    out = np.full(len(start) - 1, 5, np.float32)
    for row in range(len(out)):
        if start[row] >= 0:
            out[row] = _first(start[row], start[row + 1], column, x, low)
    return out


def _first(
    start: int, stop: int, column: np.ndarray[Any, Any], x: np.ndarray[Any, Any], low: float
) -> Any:
    total = np.float32(-1)
    for k in range(start, stop):
        at = int(element(column, k))
        if at % 5 == 4:
            continue
        if element(x, at) > low:
            return element(x, at) + element(x, at + 1)
        for j in range(at, int(element(column, k + 1))):
            total -= element(x, j)
            if total < -9:
                return total
    return np.float32(7)


@every_target
def test_branches_and_exits(target: str) -> None:
    for rows, longest in ((1, 3), (70, 6), (150, 30)):
        start, column, _, x = matrix(rows, longest, wild=True)
        for low in (0.5, 0.875, 2.0):
            out = np.full(rows, 5, np.float32)
            first_above.over(rows, device=target)(start, column, x, low, out)
            assert np.array_equal(out, expected_first(start, column, x, low))


@cb.cube
def around(ends: Array[i64], x: Array[f32], out: Array[f32]) -> None:
    """Neighbours along a range that all units share."""
    i = cb.ABSOLUTE_POS
    total = 0.0
    for k in range(ends[0], ends[1], 2):
        total += x[k - 1] + 2.0 * x[k] + 4.0 * x[k + 2]
        if total > 1e6:
            break
    out[i] = total + f32(i)


@settings(max_examples=40, deadline=None)
@given(
    target=st.sampled_from(["cpu", "cpu+gang=1", "cpu+without=ranges"]),
    first=st.one_of(st.integers(-4, 20), st.sampled_from([-(1 << 63), (1 << 63) - 1])),
    trips=st.integers(0, 24), length=st.integers(0, 20),
)  # fmt: skip
def test_a_shared_range(target: str, first: int, trips: int, length: int) -> None:
    last = min(first + trips, (1 << 63) - 1)
    x, out = np.arange(1, length + 1, dtype=np.float32), np.zeros(19, np.float32)
    around.over(19, device=target)(np.array([first, last]), x, out)
    total = np.float32(0)
    for k in range(first, last, 2):
        total += element(x, k - 1) + 2 * element(x, k) + 4 * element(x, k + 2)
    assert np.array_equal(out, total + np.arange(19, dtype=np.float32))


@cb.cube
def weighed(
    table: Tensor[f32], row: Array[i32], weight: Array[f32], first: i32, last: i32,
    out: Tensor[f32],
) -> None:  # fmt: skip
    """Along rows that each unit reads for itself, and along rows side by side."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    chosen = row[x]
    total = 0.0
    for k in range(first + row[0], last + row[0]):
        total += weight[k] * table[chosen, k] - table[k, y + 1]
        out[x, k] = total
    out[x, y] = total


def expected_weighed(
    table: np.ndarray[Any, Any], row: np.ndarray[Any, Any], weight: np.ndarray[Any, Any],
    ends: tuple[int, int], out: np.ndarray[Any, Any],
) -> None:  # fmt: skip
    def at(array: np.ndarray[Any, Any], a: int, b: int) -> Any:
        inside = 0 <= a < array.shape[0] and 0 <= b < array.shape[1]
        return array[a, b] if inside else np.float32(0)

    for x in range(out.shape[0]):
        total = np.float32(0)
        for k in range(*(end + int(row[0]) for end in ends)):
            total += element(weight, k) * at(table, int(row[x]), k) - at(table, k, 1)
            if 0 <= k < out.shape[1]:
                out[x, k] = total
        out[x, 0] = total


@every_target
@pytest.mark.parametrize("ends", [(0, 7), (-2, 7), (0, 9), (3, 3), (5, 2), (6, 7)])
def test_subscripts_made_before_the_loop(target: str, ends: tuple[int, int]) -> None:
    numbers = np.random.default_rng(7)
    table, weight = numbers.random((9, 7), np.float32), numbers.random(7, np.float32)
    for units in (1, 40, 65):
        for low, high in ((0, 9), (-3, 12)):
            row = numbers.integers(low, high, units, np.int32)
            row[0] = 0
            out = np.full((units, 7), -1, np.float32)
            want = out.copy()
            expected_weighed(table, row, weight, ends, want)
            weighed.over((1, units), device=target)(table, row, weight, *ends, out)
            assert np.array_equal(out, want), (units, low)


@cb.cube
def unsigned(
    start: Array[u32], low: Array[u64], high: Array[u64], x: Tensor[f32], out: Array[f32]
) -> None:
    """Ranges of other types, some of numbers that no array reaches; two axes."""
    i = cb.ABSOLUTE_POS
    total = 0.0
    for k in range(start[i], start[i + 1]):
        total += x[k, k]
    for k in range(low[i], high[i]):
        total += x[k, 0]
    out[i] = total


@every_target
def test_unsigned_ranges_and_two_axes(target: str) -> None:
    x, out = np.arange(1, 13, dtype=np.float32).reshape(3, 4), np.zeros(4, np.float32)
    start = np.array([0, 3, 2, 5, 9], np.uint32)
    top = (1 << 64) - 1
    low = np.array([0, top - 4, 1, top - 2], np.uint64)
    high = np.array([2, top, 7, 3], np.uint64)
    unsigned.over(4, device=target)(start, low, high, x, out)
    diagonal = [float(x[k, k]) if k < 3 else 0.0 for k in range(9)]
    column = [float(x[k, 0]) if k < 3 else 0.0 for k in range(9)]
    parts = [sum(diagonal[a:b]) for a, b in pairwise(start.tolist())]
    more = [sum(column[0:2]), 0.0, sum(column[1:7]), 0.0]
    assert out.tolist() == [a + b for a, b in zip(parts, more, strict=True)]


def test_what_was_chosen_is_told() -> None:
    seen = [str(each) for each in product.inspect(signature="").decisions]
    assert any(text.startswith("one unit at a time, in scalars") for text in seen)
    assert any("tested once ahead of the loop" in text for text in seen)
    without = product.inspect(signature="", target="cpu+without=alone,ranges")
    gang = next(each for each in without.decisions if each.topic is Topic.GANG)
    assert "vectors of" in str(gang)
    assert not any("ahead of the loop" in str(each) for each in without.decisions)


@cb.cube
def grown(start: Array[i32], x: Array[f32], out: Array[f32]) -> None:
    """Ragged, but with arithmetic that lanes are good at."""
    i = cb.ABSOLUTE_POS
    total = 0.0
    for k in range(start[i], start[i + 1]):
        v = x[k]
        for _ in range(4):
            total += cb.exp(total * 0.5) * v
    out[i] = total


def test_lanes_stay_where_they_pay() -> None:
    gang = next(e for e in grown.inspect(signature="").decisions if e.topic is Topic.GANG)
    assert "vector" in str(gang)
