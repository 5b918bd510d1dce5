"""frexp and ldexp: a float apart into significand and exponent, and back, by its bits. Exact."""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.arithmetic import bits_of, from_bits, power_of_two
from cubepy.std.formats import FloatFormat

__all__ = ["frexp_exponent", "frexp_mantissa", "ldexp"]


def _apart(x: Any, form: FloatFormat) -> Any:
    """(significand, exponent) of a finite x other than 0: from 1/2 to 1 with the sign of x; i32."""
    tiny = abs(x) < form.smallest_normal
    bits = bits_of(cb.select(tiny, x * form.denormal_scale, x), form)
    biased = cb.i32((bits >> form.fraction_bits) & (2 * form.bias + 1))
    below = cb.select(tiny, form.fraction_bits, cb.i32(0))
    fraction = bits & ~((2 * form.bias + 1) << form.fraction_bits)
    significand = from_bits(fraction | ((form.bias - 1) << form.fraction_bits), form)
    return significand, biased - (form.bias - 1) - below


def _ordinary(x: Any) -> Any:
    return (x != 0.0) & (abs(x) < float("inf"))


def frexp_mantissa(x: Any, form: FloatFormat) -> Any:
    """The significand; zeros, infinities and NaN are their own."""
    significand, _ = _apart(x, form)
    return cb.select(_ordinary(x), significand, x)


def frexp_exponent(x: Any, form: FloatFormat) -> Any:
    """The exponent as i32, 0 for zeros, infinities and NaN."""
    _, exponent = _apart(x, form)
    return cb.select(_ordinary(x), exponent, 0)


def ldexp(x: Any, exponent: Any, form: FloatFormat) -> Any:
    """The significand times two powers of two, of which the first multiplies exactly."""
    significand, own = _apart(x, form)
    limit = 4 * form.bias  # beyond it from any x to any other
    steps = cb.clamp(exponent, -limit, limit) + own
    # Far enough for 0 and infinity, near enough for two powers of normal numbers.
    inside = cb.clamp(steps, -2 * form.bias + 2, 2 * form.bias)
    half = inside >> 1
    near = power_of_two(_biased(half, form), form)
    value = significand * near * power_of_two(_biased(inside - half, form), form)
    return cb.select(_ordinary(x), value, x)


def _biased(exponent: Any, form: FloatFormat) -> Any:
    """A small i32 exponent as the bits of a float have it."""
    if form.bits == 32:
        return cb.u32(exponent + form.bias)
    return cb.u64(exponent + form.bias)
