"""exp, exp2, expm1: a power of two times a polynomial of the rest.

The argument is split as x = k·ln 2 + r with k an integer and |r| <= ln(2)/2, by Cody and Waite's
two-part ln 2 ("Software Manual for the Elementary Functions", 1980), made exact by fma. Results
below the normal range are reached by multiplying with two powers of two, so that they are rounded
once more at most.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.arithmetic import bits_of, clamped, fast_two_sum, horner, power_of_two
from cubepy.std.formats import FloatFormat

__all__ = ["exp", "exp2", "expm1", "expm1_halved", "scaled"]


def scaled(value: Any, shifted: Any, form: FloatFormat) -> Any:
    """`value` · 2**k, where `shifted` is k + `form.rounder`; k within twice the exponent range."""
    doubled = bits_of(shifted, form) - (form.rounder_bits - 2 * form.bias)
    half = doubled >> 1
    return value * power_of_two(half, form) * power_of_two(doubled - half, form)


def exp(x: Any, form: FloatFormat) -> Any:
    """The power x of e."""
    inside = clamped(x, form.exp_range)
    shifted = cb.fma(inside, form.log2_e[0], form.rounder)
    k = shifted - form.rounder
    r = cb.fma(k, -form.ln2[1], cb.fma(k, -form.ln2[0], inside))
    return scaled(horner(r, (1.0, 1.0, *form.exp_tail)), shifted, form)


def exp2(x: Any, form: FloatFormat) -> Any:
    """The power x of 2, exact for integers."""
    inside = clamped(x, form.exp2_range)
    shifted = inside + form.rounder
    r = inside - (shifted - form.rounder)
    return scaled(horner(r, (1.0, *form.exp2_factor)), shifted, form)


def expm1_halved(x: Any, form: FloatFormat) -> Any:
    """(e**x - 1)/2 in two parts, for `x` within `expm1_range`.

    2**(k-1) - 1/2 and 2**(k-1)·r are exact, and so is the error of their sum; what is left is
    small.
    """
    shifted = cb.fma(x, form.log2_e[0], form.rounder)
    k = shifted - form.rounder
    first = cb.fma(k, -form.ln2[0], x)
    r = cb.fma(k, -form.ln2[1], first)
    r_low = cb.fma(k, -form.ln2[1], first - r)
    scale = power_of_two(bits_of(shifted, form) - (form.rounder_bits - form.bias + 1), form)
    high, low = fast_two_sum(scale - 0.5, scale * r)
    rest = cb.fma(r * r, horner(r, form.exp_tail), r_low)
    return high, cb.fma(scale, rest, low)


def expm1(x: Any, form: FloatFormat) -> Any:
    """e**x - 1; tiny arguments and zeros are their own result."""
    high, low = expm1_halved(clamped(x, form.expm1_range), form)
    return cb.select(abs(x) < 0.25 / form.integer_base, x, 2.0 * (high + low))
