"""Vectors of views: what the view itself is outside of is neither read nor written."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, Tensor, i32
from cubepy.errors import OutOfBoundsError

Numbers = np.ndarray[Any, Any]
UNITS = 10
TARGETS = ["reference", "cpu", "cpu:x86-64-v2"]


@cb.cube
def rows_read(x: Tensor[i32], first: i32, last: i32, row: i32, out: Tensor[i32]) -> None:
    i = cb.ABSOLUTE_POS
    pair = x[first:last][row].vectorized(2)[i]
    out[i, 0], out[i, 1] = pair[0], pair[1]


@cb.cube
def rows_written(x: Tensor[i32], first: i32, last: i32, row: i32) -> None:
    i = cb.ABSOLUTE_POS
    x[first:last][row].vectorized(2)[i] = cb.vector(i32(i), i32(-1))


@cb.cube
def turned_read(x: Tensor[i32], row: i32, out: Tensor[i32]) -> None:
    i = cb.ABSOLUTE_POS
    pair = x[::-1][row].vectorized(2)[i]
    out[i, 0], out[i, 1] = pair[0], pair[1]


@cb.cube
def mapped_read(x: Array[i32], out: Tensor[i32], STEP: Comptime[int]) -> None:
    i = cb.ABSOLUTE_POS
    pair = x.view((2 * UNITS,), lambda k: k * STEP - 5).vectorized(2)[i]
    out[i, 0], out[i, 1] = pair[0], pair[1]


def field(rows: int, columns: int) -> Numbers:
    """A field in the middle of others' memory, which nobody may see."""
    whole = np.full((rows + 40, columns), 1_000_000, np.int32)
    whole[20:-20] = np.arange(1, rows * columns + 1).reshape(rows, columns)
    return whole


def pairs(row: Numbers | None) -> Numbers:
    expected = np.zeros((UNITS, 2), np.int32)
    if row is not None:
        whole = row[: len(row) // 2 * 2].reshape(-1, 2)[:UNITS]
        expected[: len(whole)] = whole
    return expected


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [1, 7, 16])
@pytest.mark.parametrize(("first", "last"), [(0, 3), (1, 2), (2, 2), (1, 9)])
def test_rows_outside_of_a_slice(target: str, columns: int, first: int, last: int) -> None:
    memory = field(3, columns)
    x = memory[20:-20]
    for row in (0, 1, 2, 5, -1):
        inside = x[first:last]
        known = inside[row] if 0 <= row < len(inside) else None
        out = np.zeros((UNITS, 2), np.int32)
        numbers = (np.int32(first), np.int32(last), np.int32(row))
        launch: dict[str, Any] = {"cube_count": 1, "cube_dim": UNITS, "device": target}
        rows_read.launch(x, *numbers, out, **launch)
        np.testing.assert_array_equal(out, pairs(known))
        written = memory.copy()
        rows_written.launch(written[20:-20], *numbers, **launch)
        expected = memory.copy()
        if known is not None:
            count = min(columns // 2, UNITS)
            pair = np.stack([np.arange(count), np.full(count, -1)], axis=1).astype(np.int32)
            expected[20:-20][first:last][row, : 2 * count] = pair.reshape(-1)
        np.testing.assert_array_equal(written, expected)
        if known is None:
            with pytest.raises(OutOfBoundsError):
                rows_read.launch(x, *numbers, out, check="validate", **launch)


@pytest.mark.parametrize("target", TARGETS)
def test_rows_outside_of_an_array_seen_backwards(target: str) -> None:
    x = field(2, 8)[20:-20]
    for row in (0, 1, 2, 17, -1, -2):
        out = np.zeros((UNITS, 2), np.int32)
        turned_read.launch(x, np.int32(row), out, cube_count=1, cube_dim=UNITS, device=target)
        np.testing.assert_array_equal(out, pairs(x[::-1][row] if 0 <= row < 2 else None))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("step", [1, 3, -1])
def test_elements_that_a_function_takes_outside(target: str, step: int) -> None:
    x = field(1, 9)[20:-20].reshape(-1)
    out = np.zeros((UNITS, 2), np.int32)
    mapped_read.launch(x, out, STEP=step, cube_count=1, cube_dim=UNITS, device=target)
    places = np.arange(2 * UNITS) * step - 5
    inside = (places >= 0) & (places < 9)
    expected = np.where(inside, x[np.clip(places, 0, 8)], 0).reshape(UNITS, 2)
    np.testing.assert_array_equal(out, expected)
