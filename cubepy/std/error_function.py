"""erf and erfc.

erf is 1 - exp(-p(x)), a form used by N. Juffa, with a p that is relatively exact down to zero, so
that no second polynomial is needed there. erfc is exp(-x²)·p(q)/(1 + 2x) with q = (x - K)/(x + K),
after Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x)exp(x²)erfc x", Mathematics of
Computation 36, 1981. One division serves q and the quotient.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.arithmetic import bits_of, fast_two_sum, horner, power_of_two
from cubepy.std.exponential import scaled
from cubepy.std.formats import FloatFormat

__all__ = ["erf", "erfc"]


def erf(x: Any, form: FloatFormat) -> Any:
    """Error function, odd by construction; where k is 0 it is -expm1(-p) without cancellation."""
    size = abs(x)
    inside = cb.select(size > form.erf_limit, form.erf_limit, size)
    value = cb.fma(inside, horner(inside, form.erf_factor), inside)
    shifted = cb.fma(value, -form.log2_e[0], form.rounder)
    k = shifted - form.rounder
    r = cb.fma(k, -(form.ln2[0] + form.ln2[1]), -value)  # as one float: enough beside the 1
    scale = power_of_two(bits_of(shifted, form) - (form.rounder_bits - form.bias), form)
    growth = cb.fma(r * r, horner(r, form.exp_tail), r)
    return cb.copysign(cb.fma(-scale, growth, 1.0 - scale), x)


def erfc(x: Any, form: FloatFormat) -> Any:
    """Complementary error function, small relative error to the end of the range."""
    size = abs(x)
    small = 1.0 - cb.fma(x, horner(x * x, form.erfc_small), x)
    inside = cb.select(size > form.erfc_limit, form.erfc_limit, size)
    high, low = _scaled_erfc(inside, form)
    square = inside * inside
    square_low = cb.fma(inside, inside, -square)
    shifted = cb.fma(square, -form.log2_e[0], form.rounder)
    k = shifted - form.rounder
    first = cb.fma(k, -form.ln2[0], -square)
    near = cb.fma(k, -form.ln2[1], first)
    r, r_low = fast_two_sum(near, cb.fma(k, -form.ln2[1], first - near) - square_low)
    growth = cb.fma(r * r, horner(r, form.exp_tail), r_low)
    grown = cb.fma(high, r, high)
    grown_low = cb.fma(high, r, high - grown) + cb.fma(low, r, low)
    rest = cb.fma(high, growth, grown_low)
    result = scaled(grown + rest, shifted, form)
    far = cb.select(x < 0.0, 2.0 - result, result)
    return cb.select(size < 0.5, small, far)


def _scaled_erfc(a: Any, form: FloatFormat) -> Any:
    """exp(a²)·erfc(a) in two parts for a >= 1/2."""
    total = a + form.erfc_centre
    divisor, divisor_low = fast_two_sum(2.0 * a, 1.0)
    inverse = 1.0 / (total * divisor)
    q = (a - form.erfc_centre) * divisor * inverse
    factor = horner(q, form.erfc_scaled[1:])
    numerator = cb.fma(q, factor, form.erfc_scaled[0])
    numerator_low = cb.fma(q, factor, form.erfc_scaled[0] - numerator)
    inverse_divisor = total * inverse
    high = numerator * inverse_divisor
    rest = cb.fma(-high, divisor_low, cb.fma(-high, divisor, numerator) + numerator_low)
    return high, rest * inverse_divisor
