"""Pieces the library's functions share: polynomials, bits of floats, sums and quotients in two
parts.

All run inside kernels. A value in two parts is an unevaluated sum `high + low` with `low` far
smaller.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.formats import FloatFormat

__all__ = [
    "bits_of",
    "clamped",
    "constant",
    "fast_two_sum",
    "from_bits",
    "horner",
    "ordered",
    "power_of_two",
    "quotient",
    "rescaling",
]


def horner(x: Any, coefficients: cb.Comptime[tuple[float, ...]]) -> Any:
    """The polynomial at `x`, lowest coefficient first, at least two of them."""
    total = cb.fma(x, coefficients[-1], coefficients[-2])
    for coefficient in coefficients[-3::-1]:
        total = cb.fma(total, x, coefficient)
    return total


def bits_of(value: Any, form: FloatFormat) -> Any:
    """The bits of a float as an unsigned integer."""
    if form.bits == 32:
        return cb.bitcast(cb.u32, value)
    return cb.bitcast(cb.u64, value)


def from_bits(bits: Any, form: FloatFormat) -> Any:
    """The float with these bits."""
    if form.bits == 32:
        return cb.bitcast(cb.f32, bits)
    return cb.bitcast(cb.f64, bits)


def constant(value: Any, form: FloatFormat) -> Any:
    """A number as a value of the format, where nothing beside it says which."""
    if form.bits == 32:
        return cb.f32(value)
    return cb.f64(value)


def power_of_two(biased: Any, form: FloatFormat) -> Any:
    """2 ** (biased - bias) for an unsigned integer within the exponents of normal numbers."""
    return from_bits(biased << form.fraction_bits, form)


def clamped(x: Any, limits: cb.Comptime[tuple[float, float]]) -> Any:
    """`x` within the limits; NaN stays NaN."""
    below = cb.select(x > limits[1], limits[1], x)
    return cb.select(below < limits[0], limits[0], below)


def fast_two_sum(a: Any, b: Any) -> Any:
    """`a + b` in two parts, exact if `a` is 0 or at least as large as `b` in magnitude (Dekker
    1971).
    """
    high = a + b
    return high, b - (high - a)


def quotient(high: Any, low: Any, divisor: Any, divisor_low: Any) -> Any:
    """`(high + low) / (divisor + divisor_low)` with one division, about half a unit in the last
    place.
    """
    inverse = 1.0 / divisor
    first = high * inverse
    rest = cb.fma(-first, divisor_low, cb.fma(-first, divisor, high) + low)
    return cb.fma(rest, inverse, first)


def ordered(a: Any, b: Any) -> Any:
    """The smaller and the larger of two; any order if one is NaN."""
    swapped = a < b
    return cb.select(swapped, a, b), cb.select(swapped, b, a)


def rescaling(size: Any, limits: cb.Comptime[tuple[float, float]], form: FloatFormat) -> Any:
    """The power of two to multiply a size with that lies outside the limits; 1 inside."""
    shrunk = cb.select(size > limits[1], 1.0 / form.rescale, constant(1.0, form))
    return cb.select(size < limits[0], form.rescale, shrunk)
