"""cbrt, hypot, rsqrt, and the factors of degrees and radians.

The cube root starts from a polynomial for m**(-1/3), which needs no division, and ends with a step
of Newton's method whose residual y - c³ is computed in two parts. hypot scales both sides by a
power of two where a square would leave the format.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.arithmetic import bits_of, constant, horner, ordered, power_of_two, rescaling
from cubepy.std.formats import FloatFormat
from cubepy.std.logarithm import split_at

__all__ = ["cbrt", "degrees", "hypot", "radians", "rsqrt"]


def cbrt(x: Any, form: FloatFormat) -> Any:
    """Cube root, of negative numbers too."""
    size = abs(x)
    k, m = split_at(size, form.half_root_bits, form)
    shifted = cb.fma(k, 1.0 / 3.0, form.rounder)
    left = cb.fma(shifted - form.rounder, -3.0, k)
    y = m * cb.select(left > 0.5, 2.0, cb.select(left < -0.5, 0.5, constant(1.0, form)))
    third = cb.select(
        left > 0.5, 2.0 ** (-1 / 3), cb.select(left < -0.5, 2.0 ** (1 / 3), constant(1.0, form))
    )
    inverse = _refined(horner(m, form.inverse_cbrt) * third, y, form)
    square = inverse * inverse
    root = y * square
    power = root * root
    rest = cb.fma(-power, root, y) - cb.fma(root, root, -power) * root
    root = cb.fma(rest, square * (1.0 / 3.0), root)
    scale = power_of_two(bits_of(shifted, form) - (form.rounder_bits - form.bias), form)
    ordinary = (size > 0.0) & (size < float("inf"))
    return cb.select(ordinary, cb.copysign(root * scale, x), x)


def _refined(inverse: Any, y: Any, form: FloatFormat) -> Any:
    """Near y**(-1/3): three times the digits where the first guess has too few."""
    if form.bits == 32:
        return inverse
    error = cb.fma(-y * inverse, inverse * inverse, 1.0)
    return cb.fma(inverse * error, cb.fma(error, 2.0 / 9.0, 1.0 / 3.0), inverse)


def hypot(x: Any, y: Any, form: FloatFormat) -> Any:
    """sqrt(x² + y²) without overflow on the way; infinite if either is, even beside NaN."""
    small, big = ordered(abs(x), abs(y))
    scale = rescaling(big, form.hypot_range, form)
    a, b = big * scale, small * scale
    root = cb.sqrt(cb.fma(a, a, b * b)) * (1.0 / scale)
    return cb.select(cb.isinf(x) | cb.isinf(y), float("inf"), root)


def rsqrt(x: Any, form: FloatFormat) -> Any:
    """1/sqrt(x); infinite with the sign of a zero."""
    return 1.0 / cb.sqrt(x)


def degrees(x: Any, form: FloatFormat) -> Any:
    """Radians to degrees."""
    return x * form.degrees


def radians(x: Any, form: FloatFormat) -> Any:
    """Degrees to radians."""
    return x * form.radians
