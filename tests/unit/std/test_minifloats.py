"""Bits of minifloats both ways, against ml_dtypes: every byte, and f32 wherever rounding changes.

The upper 16 bits of an f32 have more fraction than any format; the lower ones matter only as zero,
as one half, or as neither. So those four with every upper half stand for all numbers.
"""

from __future__ import annotations

from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, u8

FORMATS: dict[str, Any] = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
}
WIDTHS = {"e3m2": 6, "e2m3": 6, "e2m1": 4}
DEVICES = ("reference", "cpu")
F = TypeVar("F", bound=cb.Float)


@cb.cube
def decode(format: cb.Comptime[Any], codes: Array[u8], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = format.decode(codes[i])


@cb.cube
def encode(format: cb.Comptime[Any], x: Array[F], out: Array[u8]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = format.encode(x[i])


@cb.cube
def round_to_tf32(x: Array[F], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = cb.tf32(x[i])


def every_decision() -> Any:
    upper = np.arange(1 << 16, dtype=np.uint32)[:, None] << np.uint32(16)
    lower = np.array([0, 1, 0x8000, 0xFFFF], np.uint32)
    return (upper | lower).ravel().view(np.float32)


def nearest(name: str, x: Any) -> Any:
    """The bytes of ml_dtypes but where it has no rule or another: a NaN of a format without is 0,
    and from 2**-127 to half way to 2**-126 the nearest power is the former.
    """
    with np.errstate(all="ignore"):
        found = x.astype(FORMATS[name]).view(np.uint8)
    if name == "ue8m0":
        return np.where((x > 2.0**-127) & (x < 1.5 * 2.0**-127), 0, found)
    return np.where(np.isnan(x), 0, found) if name in WIDTHS else found


def check(name: str, got: Any, wanted: Any) -> None:
    nan = np.isnan(wanted.view(FORMATS[name]).astype(np.float32))
    assert np.isnan(got[nan].view(FORMATS[name]).astype(np.float32)).all()
    wrong = np.flatnonzero(~nan & (got != wanted))
    assert not wrong.size, [(int(at), int(got[at]), int(wanted[at])) for at in wrong[:5]]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FORMATS)
def test_every_byte_is_decoded(name: str, device: str) -> None:
    codes = np.arange(1 << WIDTHS.get(name, 8), dtype=np.uint8)
    out = np.zeros(codes.size, np.float32)
    decode.over(codes.size, device=device)(getattr(cb, name), codes, out)
    wanted = codes.view(FORMATS[name]).astype(np.float32)
    assert np.array_equal(out, wanted, equal_nan=True)
    assert np.array_equal(np.signbit(out)[~np.isnan(out)], np.signbit(wanted)[~np.isnan(wanted)])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FORMATS)
def test_every_rounding_decision(name: str, device: str) -> None:
    x = every_decision()
    out = np.zeros(x.size, np.uint8)
    encode.over(x.size, device=device)(getattr(cb, name), x, out)
    check(name, out, nearest(name, x))


@pytest.mark.parametrize("type", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("name", FORMATS)
def test_every_half(name: str, type: Any) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(type)
    out = np.zeros(x.size, np.uint8)
    encode.over(x.size, device="cpu")(getattr(cb, name), x, out)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float32)
    check(name, out, nearest(name, wide))


@pytest.mark.parametrize("name", FORMATS)
def test_doubles_are_rounded_once(name: str) -> None:
    """Just beside the middle of two numbers, nearer than an f32 can tell."""
    numbers = np.unique(np.arange(256, dtype=np.uint8).view(FORMATS[name]).astype(np.float64))
    numbers = numbers[np.isfinite(numbers)]
    middle = (numbers[1:] + numbers[:-1]) / 2
    x = np.concatenate([middle * (1 + 2.0**-40), middle * (1 - 2.0**-40), middle, numbers])
    out = np.zeros(x.size, np.uint8)
    encode.over(x.size, device="cpu")(getattr(cb, name), x, out)
    got = out.view(FORMATS[name]).astype(np.float64)
    below = np.searchsorted(numbers, x, side="right") - 1
    low, high = numbers[below], numbers[np.minimum(below + 1, numbers.size - 1)]
    closer = np.where(x - low < high - x, low, high)
    single = len(middle) * 2
    assert np.array_equal(got[:single], closer[:single])
    assert np.array_equal(out[single:], nearest(name, x[single:].astype(np.float32)))


@pytest.mark.parametrize("device", DEVICES)
def test_tf32_has_ten_bits_of_fraction(device: str) -> None:
    x = np.append(every_decision(), (np.arange(1 << 16, dtype=np.uint32) * 65537).view(np.float32))
    x = np.append(x, (np.arange(1 << 14, dtype=np.uint32) << 12 | 0x3F800000).view(np.float32))
    out = np.zeros(x.size, np.float32)
    round_to_tf32.over(x.size, device=device)(x, out)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        units = np.exp2(np.maximum(np.frexp(wide)[1] - 11, -136).astype(np.float64))
        wanted = (np.rint(wide / units) * units).astype(np.float32)
    assert np.array_equal(out, wanted, equal_nan=True)
