"""Functions of integers, frexp and ldexp as kernels spell them, on every device."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32, i64, u8, u32

DEVICES = ("reference", "cpu")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
Whole = TypeVar("Whole", bound=cb.Int)
F = TypeVar("F", bound=cb.Float)


@cb.cube
def of_integers(a: Array[Whole], b: Array[Whole], out: cb.Tensor[Whole]) -> None:
    i = cb.ABSOLUTE_POS
    out[0, i] = cb.rotl(a[i], 3)
    out[1, i] = cb.rotr(a[i], b[i])
    out[2, i] = cb.bit_reverse(a[i])
    out[3, i] = cb.find_first_set(a[i])
    out[4, i] = cb.saturating_add(a[i], b[i])
    out[5, i] = cb.saturating_sub(a[i], b[i])
    out[6, i] = cb.cdiv(a[i], b[i])
    quotient, rest = divmod(a[i], b[i])
    out[7, i] = quotient
    out[8, i] = rest


def wanted_of(a: int, b: int, bits: int, low: int, high: int) -> list[int]:
    """By Python's integers and texts of bits."""
    text = f"{a % (1 << bits):0{bits}b}"
    back = -b % bits
    values = [
        int(text[3:] + text[:3], 2),
        int(text[back:] + text[:back], 2),
        int(text[::-1], 2),
        text[::-1].find("1") + 1,
        min(max(a + b, low), high),
        min(max(a - b, low), high),
        -(-a // b) if b else 0,
        a // b if b else 0,
        a % b if b else 0,
    ]
    wrapped = [value % (1 << bits) for value in values]
    return [value - (1 << bits) if value > high else value for value in wrapped]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("type", INTEGERS)
def test_functions_of_integers(type: str, device: str) -> None:
    info = np.iinfo(type.replace("i", "int").replace("u", "uint"))
    low, high = int(info.min), int(info.max)
    generator = np.random.default_rng(7)
    ends = [low, low + 1, -1, 0, 1, 2, 7, 8, high // 2, high - 1, high]
    ends = [value for value in ends if value >= low]
    a = np.array([x for x in ends for _ in ends], info.dtype)
    b = np.array([y for _ in ends for y in ends], info.dtype)
    a = np.append(a, generator.integers(low, high, 200, info.dtype, endpoint=True))
    b = np.append(b, generator.integers(low, high, 200, info.dtype, endpoint=True))
    out = np.zeros((9, a.size), info.dtype)
    of_integers.over(a.size, device=device)(a, b, out)
    wanted = [wanted_of(int(x), int(y), info.bits, low, high) for x, y in zip(a, b, strict=True)]
    assert out.T.tolist() == wanted


@cb.cube
def taken_apart(x: Array[F], steps: Array[i64], out: cb.Tensor[F], exponents: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    significand, exponent = cb.frexp(x[i])
    out[0, i] = significand
    exponents[i] = exponent
    out[1, i] = cb.ldexp(significand, exponent)
    out[2, i] = cb.ldexp(x[i], steps[i])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("type", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_frexp_and_ldexp(type: Any, device: str) -> None:
    generator = np.random.default_rng(8)
    dtype = np.dtype(type)
    bits = generator.integers(0, 1 << 16, (500, dtype.itemsize // 2), np.uint16)
    x = np.append(bits.view(dtype)[:, 0], np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype))
    x[np.isnan(x)] = np.nan  # none that signals
    steps = generator.integers(-300, 300, x.size)
    steps[::9] = generator.choice([-(2**63), -(2**33) + 1, 2**32, 2**63 - 1], steps[::9].size)
    out, exponents = np.zeros((3, x.size), dtype), np.zeros(x.size, np.int32)
    taken_apart.over(x.size, device=device)(x, steps, out, exponents)
    wide = x.astype(np.float64)
    finite = np.isfinite(wide)
    parts = [math.frexp(value) if math.isfinite(value) else (value, 0) for value in wide]
    assert np.array_equal(out[0].astype(float), [part for part, _ in parts], equal_nan=True)
    assert exponents.tolist() == [exponent for _, exponent in parts]
    assert np.array_equal(out[1].astype(float), wide, equal_nan=True)
    with np.errstate(all="ignore"):
        scaled = np.ldexp(x if dtype == np.float64 else wide, np.clip(steps, -5000, 5000))
        assert np.array_equal(out[2], scaled.astype(dtype), equal_nan=True)
    assert np.array_equal(np.signbit(out[2][finite]), np.signbit(x[finite]))


@cb.cube
def of_literals(x: Array[f32], n: u8, out: Array[f32], bits: Array[u32]) -> None:
    i = cb.ABSOLUTE_POS
    out[0] = cb.ln(x[i]) - cb.log(x[i])
    out[1] = cb.hypot(3, x[i])
    out[2] = cb.ldexp(3, n)
    out[3] = cb.atan2(1, 1.0)
    out[4] = cb.frexp(20)[0]
    out[5] = f32(cb.frexp(x[i])[1])
    bits[0] = cb.rotl(bits[0], -4)
    bits[1] = cb.saturating_sub(bits[1], 5)


@pytest.mark.parametrize("device", DEVICES)
def test_literals_take_the_type_of_their_neighbours(device: str) -> None:
    out, bits = np.zeros(6, np.float32), np.array([0x1234, 3], np.uint32)
    of_literals.over(1, device=device)(np.array([4.0], np.float32), 5, out, bits)
    assert out.tolist() == [0.0, 5.0, 96.0, float(np.float32(math.pi / 4)), 0.625, 3.0]
    assert bits.tolist() == [0x40000123, 0]
