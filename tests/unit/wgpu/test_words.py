"""Subscripts in one word on wgpu: the same elements as with 64 bits, whatever is computed on the
way.
"""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32, i64
from tests.wgpu_devices import NAME, needs_wgpu

UNITS = 300


@cb.cube
def turned(x: Array[f32], width: i32, out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        row, column = i // width, i % width
        out[i] = x[(row ^ 1) * width + column]


@cb.cube
def far_and_back(x: Array[f32], by: i32, far: i64, out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        away = (cb.index(far) + i) * by
        out[i] = x[away - cb.index(far) * by - i * (by - 1)]


@cb.cube
def kept(x: Array[f32], by: i32, out: Array[f32], far: Array[i64]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        away = (i + 7) * by
        far[i] = i64(away)  # asks for all 64 bits
        out[i] = x[away - 7 * by - i * (by - 1)]


def numbers(size: int) -> Any:
    return np.random.default_rng(size).normal(size=size).astype(np.float32)


def run(kernel: Any, device: str, check: str, *arguments: Any) -> list[Any]:
    copies = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    kernel.over(UNITS, device=device, check=check)(*copies)
    return [each for each in copies if isinstance(each, np.ndarray)]


@needs_wgpu
@pytest.mark.parametrize(
    ("check", "width"),
    [
        *(("checked", width) for width in (1, 7, 150, 2**31 - 1, 0, -1, -30, -(2**31))),
        *(("unchecked", width) for width in (1, 30, 150)),  # others read outside
    ],
)
def test_rows_that_change_places(width: int, check: str) -> None:
    x, out = numbers(UNITS), np.zeros(UNITS, np.float32)
    found, expected = (run(turned, name, check, x, width, out) for name in (NAME, "reference"))
    np.testing.assert_array_equal(found[-1], expected[-1])


@needs_wgpu
@pytest.mark.parametrize("check", ["checked", "unchecked"])
@pytest.mark.parametrize("by", [1, -3, 2**31 - 1, 1 - 2**31])
@pytest.mark.parametrize("far", [0, 2**33 + 1, -(2**40)])
def test_what_overflows_a_word_on_the_way_comes_back(by: int, far: int, check: str) -> None:
    x, out = numbers(UNITS), np.zeros(UNITS, np.float32)
    found = run(far_and_back, NAME, check, x, by, far, out)
    np.testing.assert_array_equal(found[-1], x)


@needs_wgpu
@pytest.mark.parametrize("by", [5, 2**31 - 1])
def test_a_value_that_is_kept_has_all_its_bits(by: int) -> None:
    x, out, far = numbers(UNITS), np.zeros(UNITS, np.float32), np.zeros(UNITS, np.int64)
    _, found, kept_values = run(kept, NAME, "unchecked", x, by, out, far)
    np.testing.assert_array_equal(found, x)
    assert kept_values.tolist() == [(i + 7) * by for i in range(UNITS)]


def test_a_row_and_a_column_are_one_word() -> None:
    x = np.zeros(UNITS, np.float32)
    text = turned.over(UNITS, check="unchecked").inspect(x, 30, x.copy(), target="wgsl").text
    assert "cb_floor_div_i32(t, launch.width)" in text
    assert "_64(" not in text
    assert "_i64(" not in text
