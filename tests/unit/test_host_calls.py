"""Helpers called from Python on numbers give what they give in kernels: rounding, wrapping."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import f32, i8, i32, u32
from cubepy.errors import ArgumentError, CubeError, CubeTypeError


@cb.cube
def single(a: f32, b: f32) -> f32:
    return a * b + 0.1


@cb.cube
def hashed(n: u32) -> u32:
    return (n ^ (n >> 16)) * 0x85EBCA6B


@cb.cube
def narrow(a: i8, b: i8) -> i8:
    return a * b - 1


@cb.cube
def several(a: i32, b: i32) -> tuple[i32, i32]:
    if b == 0:
        return 0, 0
    return a // b, a % b


KERNELS: list[tuple[Any, Any, list[tuple[Any, ...]]]] = [
    (single, np.float32, [(0.1, 0.2), (1e30, 1e30), (-0.0, 1.0), (1 / 3, 3.0)]),
    (hashed, np.uint32, [(1,), (2**32 - 1,), (123456789,)]),
    (narrow, np.int8, [(100, 2), (-128, -1), (7, 9)]),
    (several, np.int32, [(-7, 2), (7, -2), (5, 0), (-(2**31), -1)]),
]


@pytest.mark.parametrize(("helper", "type", "rows"), KERNELS, ids=lambda value: str(value)[:20])
def test_a_call_gives_what_a_kernel_gives(helper: Any, type: Any, rows: Any) -> None:
    @cb.cube
    def one(a, out):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        out[i, 0] = helper(a[i, 0])

    @cb.cube
    def two(a, out):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        out[i, 0] = helper(a[i, 0], a[i, 1])

    @cb.cube
    def pair(a, out):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        out[i, 0], out[i, 1] = helper(a[i, 0], a[i, 1])

    kernel = pair if helper is several else one if helper is hashed else two
    results = 2 if helper is several else 1
    for device in ("reference", "cpu"):
        out = np.zeros((len(rows), results), type)
        kernel.over(len(rows), device=device)(np.array(rows, type), out)
        with np.errstate(all="ignore"):
            called = [helper(*(type(value) for value in row)) for row in rows]
        found = [list(value) if isinstance(value, tuple) else [value] for value in called]
        np.testing.assert_array_equal(np.array(found, type), out)
        assert all(isinstance(value, type) for row in found for value in row)


def test_what_is_no_number_is_refused_and_kernels_are_launched() -> None:
    @cb.cube
    def kernel(x: cb.Array[f32]) -> None:
        x[0] = 1.0

    with pytest.raises(CubeError, match="kernel is a kernel and is launched, not called"):
        kernel(np.zeros(3, np.float32))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="argument 'a'"):
        single("1", 2.0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="does not fit i8"):
        narrow(128, 0)

    @cb.cube
    def wrong(v: f32) -> f32:
        return v[0]  # type: ignore[index, no-any-return]

    with pytest.raises(CubeTypeError, match="cannot subscript"):
        wrong(1.0)
