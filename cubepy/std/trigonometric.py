"""sin, cos, tan of angles in radians, of any size.

The angle is split as x = q·π/2 + high - low with |high| about π/4 at most: Cody and Waite's
reduction with a three-part π/2 whose errors are kept, or, where some unit has a large angle, the
integer reduction of `reduction.py`. Sine and cosine of the rest are both evaluated, and the
quadrant selects.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.arithmetic import bits_of, fast_two_sum, from_bits, horner, quotient
from cubepy.std.formats import FloatFormat
from cubepy.std.reduction import reduce_large

__all__ = ["cos", "sin", "tan"]


def _reduced(x: Any, form: FloatFormat) -> Any:
    """(quadrant, high, low): x = quadrant·π/2 + high - low; two bits of the quadrant count.

    x - k·first is exact since both are multiples of the last place of numbers near 1. Of the next
    step both errors are kept: that of the product (by fma) and that of the difference.
    """
    shifted = cb.fma(x, form.two_over_pi, form.rounder)
    k = shifted - form.rounder
    first = cb.fma(k, -form.half_pi[0], x)
    product = k * form.half_pi[1]
    high = first - product
    kept = (high - first) + product
    low = cb.fma(k, form.half_pi[2], kept + cb.fma(k, form.half_pi[1], -product))
    quadrant = bits_of(shifted, form)
    if abs(x) > form.reduction_limit:
        quadrant, high, low = reduce_large(x, form)
    return quadrant, high, low


def _sine(high: Any, low: Any, z: Any, form: FloatFormat) -> Any:
    """What sin(high - low) lacks to high; the order of the operands keeps the sign of zero."""
    return cb.fma(-(high * z), horner(z, form.sin_tail), low)


def _cosine(high: Any, low: Any, z: Any, form: FloatFormat) -> Any:
    """cos(high - low) as 1 - high²/2, rounded, and the rest."""
    half = 0.5 * high
    near = cb.fma(-half, high, 1.0)
    rest = cb.fma(-half, high, 1.0 - near)
    return near, rest + cb.fma(z * z, horner(z, form.cos_tail), high * low)


def _circular(x: Any, turn: Any, form: FloatFormat) -> Any:
    """sin(x + turn·π/2)."""
    quadrant, high, low = _reduced(x, form)
    z = high * high
    sine = high - _sine(high, low, z, form)
    near, rest = _cosine(high, low, z, form)
    turned = quadrant + turn
    value = cb.select((turned & 1) == 1, near + rest, sine)
    return from_bits(bits_of(value, form) ^ ((turned & 2) << (form.bits - 2)), form)


def sin(x: Any, form: FloatFormat) -> Any:
    """Sine; NaN for infinities."""
    return _circular(x, 0, form)


def cos(x: Any, form: FloatFormat) -> Any:
    """Cosine; NaN for infinities."""
    return _circular(x, 1, form)


def tan(x: Any, form: FloatFormat) -> Any:
    """Tangent: sine by cosine, or minus cosine by sine in odd quadrants, each in two parts."""
    quadrant, high, low = _reduced(x, form)
    z = high * high
    sine, sine_low = fast_two_sum(high, -_sine(high, low, z, form))
    near, rest = _cosine(high, low, z, form)
    cosine, cosine_low = fast_two_sum(near, rest)
    odd = (quadrant & 1) == 1
    ratio = quotient(
        cb.select(odd, -cosine, sine),
        cb.select(odd, -cosine_low, sine_low),
        cb.select(odd, sine, cosine),
        cb.select(odd, sine_low, cosine_low),
    )
    return cb.select(x == 0.0, x, ratio)
