"""Reduction of large angles to a quadrant, with 2/π in integers.

M. Payne and R. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983:
only the bits of 2/π that matter modulo four quadrants and for the precision of the result meet the
significand. Everything is done in integers as wide as the float, so f32 needs neither f64 nor
64-bit integers.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.arithmetic import bits_of, fast_two_sum, power_of_two
from cubepy.std.formats import FloatFormat

__all__ = ["reduce_large"]

# 2/π after the binary point, behind one word of zeros, so that every offset is positive.
_WORDS_32 = (0x0, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041)
_WORDS_64 = (
    0x0,
    0xA2F9836E4E441529,
    0xFC2757D1F534DDC0,
    0xDB6295993C439041,
    0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0,
    0x06492EEA09D1921C,
    0xFE1DEB1CB129A73E,
    0xE88235F52EBB4484,
    0xE99C7026B45F7E41,
    0x3991D639835339F4,
    0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F,
    0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08,
)


def reduce_large(x: Any, form: FloatFormat) -> Any:
    """(quadrant, high, low) with x = quadrant·π/2 + high - low, |high| <= π/4, for |x| >= 2**17."""
    bits = bits_of(abs(x), form)
    significand = (bits << form.spare_bits) | (1 << (form.bits - 1))
    upper, lower = _turns(significand, (bits >> form.fraction_bits) - (form.bias + 1), form)
    quadrant = (upper + (1 << (form.bits - 3))) >> (form.bits - 2)
    rest = upper - (quadrant << (form.bits - 2))
    negative = (rest >> (form.bits - 1)) == 1
    size = cb.select(negative, cb.select(lower == 0, -rest, ~rest), rest)
    high, low = _radians(size, cb.select(negative, -lower, lower), form)
    below_zero = x < 0.0
    flipped = negative ^ below_zero
    not_finite = x - x  # 0, or NaN for infinities
    return (
        cb.select(below_zero, -quadrant, quadrant),
        cb.select(flipped, -high, high) + not_finite,
        cb.select(flipped, low, -low),
    )


def _turns(significand: Any, offset: Any, form: FloatFormat) -> Any:
    """The fraction of a full turn, as two words: significand times three words of 2/π at a bit
    offset.
    """
    if form.bits == 32:
        first, second, third = _window_32(offset)
    else:
        first, second, third = _window_64(offset)
    carried = cb.mul_hi(significand, third)
    lower = significand * second + carried
    upper = significand * first + cb.mul_hi(significand, second)
    return cb.select(lower < carried, upper + 1, upper), lower


def _radians(upper: Any, lower: Any, form: FloatFormat) -> Any:
    """A positive fraction of a turn in radians, in two parts, with leading zeros shifted out."""
    zeros = cb.clz(upper)
    kept = (upper << zeros) | (lower >> (form.bits - zeros))
    whole = _as_float(kept >> form.spare_bits, form)
    part = _as_float(kept & ((1 << form.spare_bits) - 1), form)
    high = whole * form.half_pi[0]
    tail = cb.fma(part * 0.5**form.spare_bits, form.half_pi[0], whole * form.half_pi[1])
    near, low = fast_two_sum(high, cb.fma(whole, form.half_pi[0], -high) + tail)
    scale = power_of_two(form.bias + form.spare_bits + 2 - form.bits - zeros, form)
    return near * scale, low * scale


def _as_float(small: Any, form: FloatFormat) -> Any:
    """An unsigned integer that fits the significand, by way of a signed one."""
    if form.bits == 32:
        return cb.f32(cb.i32(small))
    return cb.f64(cb.i64(small))


def _window_32(offset: Any) -> Any:
    """Three words of 2/π from a bit offset below 128: words by selects, then bits by shifts."""
    two, one = (offset & 64) != 0, (offset & 32) != 0
    a0 = cb.select(two, cb.u32(_WORDS_32[2]), cb.u32(_WORDS_32[0]))
    a1 = cb.select(two, cb.u32(_WORDS_32[3]), cb.u32(_WORDS_32[1]))
    a2 = cb.select(two, cb.u32(_WORDS_32[4]), cb.u32(_WORDS_32[2]))
    a3 = cb.select(two, cb.u32(_WORDS_32[5]), cb.u32(_WORDS_32[3]))
    a4 = cb.select(two, cb.u32(_WORDS_32[6]), cb.u32(_WORDS_32[4]))
    b0, b1 = cb.select(one, a1, a0), cb.select(one, a2, a1)
    b2, b3 = cb.select(one, a3, a2), cb.select(one, a4, a3)
    return _joined(b0, b1, b2, b3, offset & 31, 32)


def _joined(w0: Any, w1: Any, w2: Any, w3: Any, shift: Any, width: Any) -> Any:
    """Three words at a bit offset into four; a shift by the whole width gives 0."""
    back = width - shift
    return (w0 << shift) | (w1 >> back), (w1 << shift) | (w2 >> back), (w2 << shift) | (w3 >> back)


def _pick(bit: Any, place: Any, step: Any) -> Any:
    """Word `place + step` of the table where the bit is set, else word `place`."""
    return cb.select(bit, cb.u64(_WORDS_64[place + step]), cb.u64(_WORDS_64[place]))


def _window_64(offset: Any) -> Any:
    """As `_window_32`, for an offset below 1024."""
    eight, four = (offset & 512) != 0, (offset & 256) != 0
    two, one = (offset & 128) != 0, (offset & 64) != 0
    a0, a1, a2, a3 = _pick(eight, 0, 8), _pick(eight, 1, 8), _pick(eight, 2, 8), _pick(eight, 3, 8)
    a4, a5, a6, a7 = _pick(eight, 4, 8), _pick(eight, 5, 8), _pick(eight, 6, 8), _pick(eight, 7, 8)
    a8, a9, a10 = _pick(eight, 8, 8), _pick(eight, 9, 8), _pick(eight, 10, 8)
    b0, b1, b2 = cb.select(four, a4, a0), cb.select(four, a5, a1), cb.select(four, a6, a2)
    b3, b4, b5 = cb.select(four, a7, a3), cb.select(four, a8, a4), cb.select(four, a9, a5)
    b6 = cb.select(four, a10, a6)
    c0, c1, c2 = cb.select(two, b2, b0), cb.select(two, b3, b1), cb.select(two, b4, b2)
    c3, c4 = cb.select(two, b5, b3), cb.select(two, b6, b4)
    d0, d1 = cb.select(one, c1, c0), cb.select(one, c2, c1)
    d2, d3 = cb.select(one, c3, c2), cb.select(one, c4, c3)
    return _joined(d0, d1, d2, d3, offset & 63, 64)
