"""Loops over narrow ranges whose variables are subscripts, single elements that loops find outside,
and gathers by 32-bit subscripts, kept narrow and not; against NumPy and plain Python.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array
from tests.targets import on_targets

TARGETS = on_targets(
    "cpu", "cpu:x86-64-v2", "cpu:x86-64-v3", "cpu:x86-64-v4", "cpu+without=narrow",
    "cpu:x86-64-v3+without=narrow", "cpu+without=facts",
)  # fmt: skip
every_target = pytest.mark.parametrize("target", TARGETS)
RANGES = [(name, step) for name in ("i8", "i16", "i32") for step in (1, 3, 7, -1, -2)] + [
    (name, step) for name in ("u8", "u16", "u32") for step in (1, 3, 7)
]


def kernel_over(name: str, step: int) -> Any:
    """A kernel that adds up elements along a range of this type, which may lie below 0."""
    number = getattr(cb, name)

    @cb.cube
    def along(start: Array[number], stop: Array[number], x: Array[cb.i32], out: Array[cb.i32]):  # type: ignore[valid-type, no-untyped-def]
        i = cb.ABSOLUTE_POS
        if i < len(out):
            total = cb.i32(0)
            for k in range(start[i], stop[i], number(step)):
                total += x[cb.index(k) + 40000] + cb.i32(k)
            out[i] = total

    return along


def near(middle: int, type: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Numbers about `middle`, as far as the type has them."""
    limits = np.iinfo(type)
    return np.clip(np.arange(middle - 12, middle + 13), limits.min, limits.max).astype(type)


@every_target
@pytest.mark.parametrize(("name", "step"), RANGES)
def test_ranges_up_to_the_ends_of_a_type(target: str, name: str, step: int) -> None:
    type = np.dtype({"i": "int", "u": "uint"}[name[0]] + name[1:])
    limits, kernel = np.iinfo(type), kernel_over(name, step)
    middles = [each for each in (limits.min, 0, limits.max) if abs(each) < 1 << 16]
    x = np.random.default_rng(step + 9).integers(-99, 99, 80000, np.int32)
    for middle in middles:
        ends = near(middle, type)
        start, stop = (each.ravel().copy() for each in np.meshgrid(ends, ends))
        out = np.zeros(start.size, np.int32)
        kernel.over(out.size, device=target)(start, stop, x, out)
        ranges = [range(a, b, step) for a, b in zip(start.tolist(), stop.tolist(), strict=True)]
        assert out.tolist() == [sum(int(element(x, k + 40000)) + k for k in r) for r in ranges]


def element(array: np.ndarray[Any, Any], at: int) -> Any:
    """What a checked load gives: 0 outside."""
    return array[at] if 0 <= at < len(array) else array.dtype.type(0)


@cb.cube
def chased(
    start: Array[cb.i32], places: Array[cb.i64], x: Array[cb.bool_], y: Array[cb.f16],
    out: Array[cb.f32],
) -> None:  # fmt: skip
    """Single elements of all kinds, of which many lie outside."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            if x[places[k]]:
                total += cb.f32(y[places[k + 1]])
            else:
                total -= 1.0
        out[i] = total


@every_target
def test_single_elements_outside_read_as_zero(target: str) -> None:
    numbers = np.random.default_rng(7)
    start = np.concatenate([[0], np.cumsum(numbers.integers(0, 9, 60))]).astype(np.int32)
    places = numbers.integers(-20, 60, start[-1] - 3)
    places[::9] = [(-1) ** k << 62 for k in range(len(places[::9]))]
    x, y = numbers.random(40) < 0.5, numbers.integers(0, 9, 40).astype(np.float16)
    out, want = np.zeros(60, np.float32), np.zeros(60, np.float32)
    chased.over(60, device=target)(start, places, x, y, out)
    for i, (begin, end) in enumerate(pairwise(start.tolist())):
        for k in range(begin, end):
            taken = element(x, int(element(places, k)))
            want[i] += element(y, int(element(places, k + 1))) if taken else -1
    assert np.array_equal(out, want)


@cb.cube
def exchanged(
    places: Array[cb.i32], x: Array[cb.f32], bytes: Array[cb.u8], wide: Array[cb.f64],
    moved: Array[cb.f32], out: Array[cb.f64],
) -> None:  # fmt: skip
    """A gather of each width and a scatter, by one subscript."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        at = places[i]
        out[i] = cb.f64(x[at]) + cb.f64(bytes[at]) + wide[at]
        moved[at] = cb.f32(at) + 0.5


@every_target
@pytest.mark.parametrize("outside", [False, True])
def test_gathers_by_narrow_subscripts(target: str, *, outside: bool) -> None:
    numbers = np.random.default_rng(11)
    count, size = 1003, 2000
    places = numbers.permutation(size)[:count].astype(np.int32)
    if outside:
        places[5::170] = [-1, 2000, -(1 << 31), (1 << 31) - 1, 1 << 30, -2000]
    x, bytes_ = numbers.random(size, np.float32), numbers.integers(0, 256, size, np.uint8)
    wide, moved, out = numbers.random(size), np.zeros(size, np.float32), np.zeros(count)
    exchanged.over(count, device=target)(places, x, bytes_, wide, moved, out)
    inside = (places >= 0) & (places < size)
    at = np.where(inside, places, 0)
    want = np.where(inside, x[at].astype(np.float64) + bytes_[at] + wide[at], 0)
    assert np.array_equal(out, want)
    kept = np.zeros(size, np.float32)
    kept[places[inside]] = places[inside] + np.float32(0.5)
    assert np.array_equal(moved, kept)
