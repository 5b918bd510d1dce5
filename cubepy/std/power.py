"""pow: 2 ** (y · log2 |x|) with the logarithm and the product in two parts.

log2 m is the series of atanh in s = (m - 1)/(m + 1) with s and the first two coefficients in two
parts, as in N. Juffa's pow functions; that leaves the exponent with an error far below the result's
last place. Special cases are those of C99 Annex F.9.4.4.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.arithmetic import bits_of, clamped, fast_two_sum, from_bits, horner
from cubepy.std.exponential import scaled
from cubepy.std.formats import FloatFormat
from cubepy.std.logarithm import split_at

__all__ = ["pow"]


def pow(base: Any, exponent: Any, form: FloatFormat) -> Any:
    """A power of floats."""
    size = abs(base)
    high, low = _log2(size, form)
    product = high * exponent
    product_low = cb.fma(low, exponent, cb.fma(high, exponent, -product))
    result = _exp2(product, product_low, form)
    whole = cb.trunc(exponent) == exponent
    half = 0.5 * exponent
    odd = whole & (cb.trunc(half) != half)
    sign = bits_of(base, form) & (1 << (form.bits - 1))
    signed = cb.select(odd, from_bits(bits_of(result, form) | sign, form), result)
    undefined = (base < 0.0) & ~whole & (size < float("inf"))
    valid = cb.select(undefined, float("nan"), signed)
    # -1 to an infinite power: the logarithm is 0, the product NaN.
    one = (base == 1.0) | (exponent == 0.0) | ((base == -1.0) & cb.isinf(exponent))
    return cb.select(one, 1.0, valid)


def _log2(x: Any, form: FloatFormat) -> Any:
    """log2 of x >= 0 in two parts; ∓inf, 0 for 0 and inf; NaN for NaN."""
    k, m = split_at(x, form.half_root_bits, form)
    f = m - 1.0
    divisor, divisor_low = fast_two_sum(2.0, f)
    inverse = 1.0 / divisor
    s = f * inverse
    s_low = cb.fma(-s, divisor_low, cb.fma(-s, divisor, f)) * inverse
    z = s * s
    z_low = cb.fma(s, s, -z) + 2.0 * s * s_low
    cubic = form.log2_cubic[0] * z
    cubic_low = cb.fma(form.log2_cubic[0], z, -cubic)
    cubic_low = cubic_low + cb.fma(form.log2_cubic[0], z_low, form.log2_cubic[1] * z)
    factor, factor_rest = fast_two_sum(form.log2_linear[0], cubic)
    tail = cb.fma(z * z, horner(z, form.log2_atanh_tail), cubic_low)
    factor_low = factor_rest + (form.log2_linear[1] + tail)
    part = s * factor
    part_low = cb.fma(s, factor, -part) + cb.fma(s, factor_low, s_low * factor)
    total, total_low = fast_two_sum(k, part)
    high, low = fast_two_sum(total, total_low + part_low)
    ordinary = (x > 0.0) & (x < float("inf"))
    limit = cb.select(x == 0.0, -float("inf"), x)
    return cb.select(ordinary, high, limit), cb.select(ordinary, low, 0.0)


def _exp2(high: Any, low: Any, form: FloatFormat) -> Any:
    """2 ** (high + low)."""
    inside = clamped(high, form.exp2_range)
    shifted = inside + form.rounder
    r = (inside - (shifted - form.rounder)) + cb.select(inside == high, low, 0.0)
    return scaled(horner(r, (1.0, *form.exp2_factor)), shifted, form)
