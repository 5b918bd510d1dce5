"""asin, acos, atan, atan2: odd polynomials on an interval around zero, and the angle left over.

asin(x) = π/2 - 2·asin(sqrt((1 - x)/2)) beyond one half, as in Sun's fdlibm (e_asin.c), so that one
polynomial and one square root serve both functions. atan of a quotient of at most 1 is that of
(a - b)/(a + b) plus π/4 beyond one half; quadrants add more multiples of π/4. One division.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.arithmetic import constant, fast_two_sum, horner, ordered, rescaling
from cubepy.std.formats import FloatFormat

__all__ = ["acos", "asin", "atan", "atan2"]


def _arcsine(size: Any, large: Any, form: FloatFormat) -> Any:
    """(s, tail): asin(size) = s + tail up to one half; beyond, s is the half-angle's sine."""
    z = cb.select(large, cb.fma(-0.5, size, 0.5), size * size)
    s = cb.select(large, cb.sqrt(z), size)
    return s, s * z * horner(z, form.asin_tail)


def asin(x: Any, form: FloatFormat) -> Any:
    """Arcsine, odd by construction; NaN beyond 1."""
    size = abs(x)
    large = size > 0.5
    s, tail = _arcsine(size, large, form)
    high, low = fast_two_sum(form.half_pi[0], -2.0 * s)
    far = high + (low + cb.fma(-2.0, tail, form.half_pi[1]))
    return cb.copysign(cb.select(large, far, s + tail), x)


def acos(x: Any, form: FloatFormat) -> Any:
    """Arccosine; NaN beyond 1."""
    size = abs(x)
    large = size > 0.5
    s, tail = _arcsine(size, large, form)
    # Quarter turns to start from, and how often the angle of s is taken from them.
    quarters = cb.select(large, cb.select(x < 0.0, constant(2.0, form), 0.0), 1.0)
    times = cb.copysign(constant(1.0, form), x) * cb.select(large, constant(-2.0, form), 1.0)
    high, low = fast_two_sum(quarters * form.half_pi[0], -times * s)
    return high + (low + cb.fma(-times, tail, quarters * form.half_pi[1]))


def _angle(small: Any, big: Any, swapped: Any, form: FloatFormat) -> Any:
    """(eighths, high, tail): the angle is eighths·π/4 + high + tail, with tangent small/big, or
    big/small where `swapped`. For 0 <= small <= big, big neither 0 nor infinite.
    """
    beyond = small > 0.5 * big
    numerator = cb.select(beyond, small - big, small)
    divisor, divisor_low = fast_two_sum(big, cb.select(beyond, small, 0.0))
    inverse = 1.0 / divisor
    first = numerator * inverse
    rest = cb.fma(-first, divisor_low, cb.fma(-first, divisor, numerator))
    t = cb.fma(rest, inverse, first)
    rounding = cb.fma(rest, inverse, first - t)
    z = t * t
    # The derivative of atan is nearly 1 - z.
    tail = cb.fma(t * z, horner(z, form.atan_tail), cb.fma(-z, rounding, rounding))
    eighths = cb.select(beyond, constant(1.0, form), 0.0)
    return (
        cb.select(swapped, 2.0 - eighths, eighths),
        cb.select(swapped, -t, t),
        cb.select(swapped, -tail, tail),
    )


def _total(eighths: Any, high: Any, tail: Any, form: FloatFormat) -> Any:
    near, low = fast_two_sum(eighths * form.quarter_pi[0], high)
    return near + (low + cb.fma(eighths, form.quarter_pi[1], tail))


def atan(x: Any, form: FloatFormat) -> Any:
    """Arctangent, odd by construction."""
    size = abs(x)
    inside = cb.select(size > form.atan_limit, form.atan_limit, size)
    swapped = inside > 1.0
    small = cb.select(swapped, 1.0, inside)
    eighths, high, tail = _angle(small, cb.select(swapped, inside, 1.0), swapped, form)
    return cb.copysign(_total(eighths, high, tail, form), x)


def atan2(y: Any, x: Any, form: FloatFormat) -> Any:
    """The angle of the point (x, y), from -π to π; zeros and infinities as C99 Annex F.9.1.4."""
    small, big = ordered(abs(y), abs(x))
    scale = rescaling(big, (1.0, form.rescale), form)
    infinite = cb.isinf(big)
    # Where x or y is infinite only whether they both are counts; of two zeros the signs count.
    reduced = cb.select(infinite, cb.select(small == big, constant(1.0, form), 0.0), small * scale)
    divisor = cb.select(infinite | (big == 0.0), 1.0, big * scale)
    eighths, high, tail = _angle(reduced, divisor, abs(y) > abs(x), form)
    behind = cb.copysign(constant(1.0, form), x) < 0.0
    angle = _total(
        cb.select(behind, 4.0 - eighths, eighths),
        cb.select(behind, -high, high),
        cb.select(behind, -tail, tail),
        form,
    )
    return cb.select(cb.isnan(x) | cb.isnan(y), x + y, cb.copysign(angle, y))
