"""Divisors that are known while compiling: powers of two are shifts and masks, with all answers."""

from typing import Any, TypeVar

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array
from tests.opencl_devices import on_the_first
from tests.wgpu_devices import NAME, needs_wgpu

T = TypeVar("T", bound=cb.Int)
DEVICES = [*on_the_first(), pytest.param(NAME, marks=needs_wgpu)]
TYPES: list[Any] = [
    np.int8,
    np.uint8,
    np.int16,
    np.uint16,
    np.int32,
    np.uint32,
    np.int64,
    np.uint64,
]


def dividing(by: int) -> Any:
    @cb.cube
    def kernel(x: Array[T], floors: Array[T], rests: Array[T], cuts: Array[T]) -> None:
        i = cb.ABSOLUTE_POS
        if i < len(x):
            floors[i] = x[i] // by
            rests[i] = x[i] % by
            cuts[i] = cb.trunc_div(x[i], cb.cast(x.dtype, by)) ^ cb.trunc_rem(
                x[i], cb.cast(x.dtype, by)
            )

    return kernel


def numbers(dtype: Any) -> Any:
    info = np.iinfo(dtype)
    near = [0, 1, 2, 3, 5, 63, 64, 65, int(info.max), int(info.max) - 1, int(info.max) // 2 + 1]
    below = [int(info.min), int(info.min) + 1, -1, -2, -3, -64, -65] if info.min < 0 else []
    return np.array(near + below, dtype)


def expected(values: Any, by: int) -> list[list[int]]:
    """By Python's own integers."""
    floors = [(int(v) // by, int(v) % by) for v in values]
    cuts = [abs(int(v)) // by * (1 if v >= 0 else -1) for v in values]
    mixed = [q ^ (int(v) - q * by) for v, q in zip(values, cuts, strict=True)]
    return [[q for q, _ in floors], [r for _, r in floors], mixed]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("by", [2, 3, 64])
def test_every_type(device: str, by: int) -> None:
    kernel = dividing(by)
    for dtype in TYPES:
        values = numbers(dtype)
        made = [np.zeros_like(values) for _ in range(3)]
        kernel.over(values.size, device=device)(values, *made)
        for got, wanted in zip(made, expected(values, by), strict=True):
            np.testing.assert_array_equal(got, np.array(wanted, dtype))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("exponent", [31, 62])
def test_far_powers(device: str, exponent: int) -> None:
    kernel = dividing(1 << exponent)
    for dtype in TYPES:
        if 1 << exponent > np.iinfo(dtype).max:
            continue
        values = numbers(dtype)
        made = [np.zeros_like(values) for _ in range(3)]
        kernel.over(values.size, device=device)(values, *made)
        for got, wanted in zip(made, expected(values, 1 << exponent), strict=True):
            np.testing.assert_array_equal(got, np.array(wanted, dtype))


@pytest.mark.parametrize("target", ["opencl", "wgsl"])
def test_text_has_shifts(target: str) -> None:
    x = np.zeros(9, np.int32)
    text = dividing(8).over(9).inspect(x, x, x, x, target=target).text
    body = text[text.index("// ") :]
    assert ">> 3" in body
    assert "& 7" in body
    assert "floor_div" not in text
    assert "floor_mod" not in text
