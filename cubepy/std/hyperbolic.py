"""sinh, cosh, tanh and their inverses, and sigmoid; intermediate values in two parts.

With x = k·ln 2 + r, sinh and cosh are sums of sinh r and cosh r (the odd and the even terms of the
exponential's polynomial) times the sum and the difference of 2**(k-1) and 2**(-k-1): no division.
tanh is w/(w + 1) with w = (exp(2|x|) - 1)/2. The inverses are log(1 + u) with u in two parts.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.arithmetic import (
    bits_of,
    constant,
    fast_two_sum,
    horner,
    power_of_two,
    quotient,
)
from cubepy.std.exponential import expm1_halved, scaled
from cubepy.std.formats import FloatFormat
from cubepy.std.logarithm import log1p_in_parts

__all__ = ["acosh", "asinh", "atanh", "cosh", "sigmoid", "sinh", "tanh"]


def tanh(x: Any, form: FloatFormat) -> Any:
    """Hyperbolic tangent, odd by construction; 1 from `tanh_limit` on."""
    size = abs(x)
    inside = cb.select(size > form.tanh_limit, form.tanh_limit, size)
    part, part_low = expm1_halved(2.0 * inside, form)
    high, low = fast_two_sum(part, part_low)
    # Beyond 1 the sum is not exact any more, and need not be: the quotient is near 1.
    divisor, divisor_low = fast_two_sum(1.0, high)
    return cb.copysign(quotient(high, low, divisor, divisor_low + low), x)


def _growth(size: Any, form: FloatFormat) -> Any:
    """(up, down, r, r_low, odd, even) with size = k·ln 2 + r + r_low, up = 2**(k-3) and
    down = 2**(-k-3), sinh r = r + odd and cosh r = 1 + even.

    Both powers are a quarter of what they stand for, so that k may reach beyond the exponents.
    """
    inside = cb.select(size > form.sinh_limit, form.sinh_limit, size)
    shifted = cb.fma(inside, form.log2_e[0], form.rounder)
    k = shifted - form.rounder
    first = cb.fma(k, -form.ln2[0], inside)
    r = cb.fma(k, -form.ln2[1], first)
    r_low = cb.fma(k, -form.ln2[1], first - r)
    steps = bits_of(shifted, form) - form.rounder_bits
    up = power_of_two(steps + (form.bias - 3), form)
    # Far below the last place of 2**(k-3) it may be 0.
    far = steps > form.bias - 3
    down = power_of_two(cb.select(far, 0, (form.bias - 3) - steps), form)
    z = r * r
    odd = r * z * horner(z, form.exp_tail[1::2])
    even = z * horner(z, form.exp_tail[0::2])
    return up, down, r, r_low, odd, even


def sinh(x: Any, form: FloatFormat) -> Any:
    """Hyperbolic sine, odd by construction."""
    size = abs(x)
    up, down, r, r_low, odd, even = _growth(size, form)
    total = up + down
    difference, difference_low = fast_two_sum(up, -down)
    product = total * r
    high, low = fast_two_sum(difference, product)
    product_low = cb.fma(total, r, -product) + cb.fma(total, r_low, difference_low)
    rest = cb.fma(total, odd, cb.fma(difference, even, product_low))
    value = 4.0 * (high + (low + rest))
    # The square of such an argument is below its last place.
    return cb.copysign(cb.select(size < 0.25 / form.integer_base, size, value), x)


def cosh(x: Any, form: FloatFormat) -> Any:
    """Hyperbolic cosine."""
    up, down, r, r_low, odd, even = _growth(abs(x), form)
    total, total_low = fast_two_sum(up, down)
    difference = up - down
    high, low = fast_two_sum(total, difference * r)
    rest = cb.fma(difference, odd + r_low, cb.fma(total, even, low + total_low))
    return 4.0 * (high + rest)


def sigmoid(x: Any, form: FloatFormat) -> Any:
    """1/(1 + exp(-x)): 1/(1 + e) or e/(1 + e) with e = exp(-|x|) in two parts."""
    size = abs(x)
    inside = cb.select(size > -form.exp_range[0], -form.exp_range[0], size)
    shifted = cb.fma(inside, -form.log2_e[0], form.rounder)
    k = shifted - form.rounder
    first = cb.fma(k, -form.ln2[0], -inside)
    r = cb.fma(k, -form.ln2[1], first)
    r_low = cb.fma(k, -form.ln2[1], first - r)
    near, near_low = fast_two_sum(1.0, r)
    part, part_low = fast_two_sum(near, cb.fma(r * r, horner(r, form.exp_tail), r_low + near_low))
    divisor, divisor_low = fast_two_sum(1.0, scaled(part, shifted, form))
    below = x < 0.0
    ratio = quotient(
        cb.select(below, part, 1.0),
        cb.select(below, part_low, 0.0),
        divisor,
        divisor_low + scaled(part_low, shifted, form),
    )
    return cb.select(below, scaled(ratio, shifted, form), ratio)


def _root(square: Any, square_low: Any) -> Any:
    """The square root of a value in two parts, in two parts."""
    root = cb.sqrt(square)
    rest = cb.fma(-root, root, square) + square_low
    return root, cb.select(root == 0.0, 0.0 * root, 0.5 * rest / root)


def asinh(x: Any, form: FloatFormat) -> Any:
    """log(1 + u) with u = |x| + sqrt(x² + 1) - 1, odd by construction; log(2|x|) where x² is too
    large to count.
    """
    size = abs(x)
    huge = size > form.square_limit
    inside = cb.select(huge, form.square_limit, size)
    square = inside * inside
    square_low = cb.fma(inside, inside, -square)
    high, low = fast_two_sum(
        cb.select(square > 1.0, square, 1.0), cb.select(square > 1.0, 1.0, square)
    )
    root, root_low = _root(high, low + square_low)
    over, over_low = fast_two_sum(root, -1.0)
    u, u_low = fast_two_sum(
        cb.select(over > inside, over, inside), cb.select(over > inside, inside, over)
    )
    low = u_low + (over_low + root_low)
    return cb.copysign(_logarithm(size, huge, u, low, form), x)


def acosh(x: Any, form: FloatFormat) -> Any:
    """log(1 + u) with u = x - 1 + sqrt(x² - 1); log(2x) where x² is too large to count; NaN below
    1.
    """
    huge = x > form.square_limit
    inside = cb.select(huge, form.square_limit, x)
    square = inside * inside
    high, low = fast_two_sum(square, -1.0)
    root, root_low = _root(high, low + cb.fma(inside, inside, -square))
    over, over_low = fast_two_sum(inside, -1.0)
    u, u_low = fast_two_sum(root, over)
    result = _logarithm(x, huge, u, u_low + (over_low + root_low), form)
    return cb.select(x < 1.0, float("nan"), result)


def _logarithm(size: Any, huge: Any, u: Any, u_low: Any, form: FloatFormat) -> Any:
    """log(1 + u + u_low), or log(2·size) for a huge size."""
    near, near_low = fast_two_sum(u, u_low)
    high = cb.select(huge, size, near)
    low = cb.select(huge, 0.0, near_low)
    return log1p_in_parts(high, low, cb.select(huge, constant(1.0, form), 0.0), form)


def atanh(x: Any, form: FloatFormat) -> Any:
    """log(1 + u)/2 with u = 2|x|/(1 - |x|), odd by construction; NaN beyond 1."""
    size = abs(x)
    doubled = 2.0 * size
    divisor, divisor_low = fast_two_sum(1.0, -size)
    inverse = 1.0 / divisor
    u = doubled * inverse
    rest = cb.fma(-u, divisor_low, cb.fma(-u, divisor, doubled))
    value = 0.5 * log1p_in_parts(u, rest * inverse, constant(0.0, form), form)
    limit = cb.select(size == 1.0, constant(float("inf"), form), float("nan"))
    return cb.copysign(cb.select(size < 1.0, value, limit), x)
