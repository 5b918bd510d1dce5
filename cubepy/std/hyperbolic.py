"""tanh: w/(w + 1) with w = (exp(2|x|) - 1)/2, numerator and denominator in two parts."""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.arithmetic import fast_two_sum, quotient
from cubepy.std.exponential import expm1_halved
from cubepy.std.formats import FloatFormat

__all__ = ["tanh"]


def tanh(x: Any, form: FloatFormat) -> Any:
    """Hyperbolic tangent, odd by construction; 1 from `tanh_limit` on."""
    size = abs(x)
    inside = cb.select(size > form.tanh_limit, form.tanh_limit, size)
    part, part_low = expm1_halved(2.0 * inside, form)
    high, low = fast_two_sum(part, part_low)
    # Beyond 1 the sum is not exact any more, and need not be: the quotient is near 1.
    divisor, divisor_low = fast_two_sum(1.0, high)
    return cb.copysign(quotient(high, low, divisor, divisor_low + low), x)
