"""log, log2, log10, log1p: k·log 2 plus the logarithm of m = x·2**-k, which lies around 1.

f = m - 1 is exact, so log(1 + f) = f + rest with a small rest: a polynomial in f32, and in f64 the
series in f/(2 + f), as in Sun's fdlibm (e_log.c). k·log 2 and the leading product are summed in two
parts.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.std.arithmetic import bits_of, fast_two_sum, from_bits, horner
from cubepy.std.formats import FloatFormat

__all__ = ["log", "log1p", "log1p_in_parts", "log2", "log10", "split_at"]

Pair = tuple[float, float]


def split_at(x: Any, first_bits: Any, form: FloatFormat) -> Any:
    """(k, m) with x = m·2**k, k a float, m from the float with bits `first_bits` to its double.

    For finite x > 0, denormals included.
    """
    tiny = x < form.smallest_normal
    bits = bits_of(cb.select(tiny, x * form.denormal_scale, x), form)
    biased = (bits + (form.one_bits - first_bits)) >> form.fraction_bits
    m = from_bits(bits - (biased << form.fraction_bits) + form.one_bits, form)
    # The exponent as a float: put below the leading bit of 2**fraction_bits, then taken off it.
    raised = from_bits(biased | form.integer_bits, form) - (form.integer_base + form.bias)
    k = cb.select(tiny, raised - form.denormal_shift, raised)
    return k, m


def _rest(f: Any, form: FloatFormat) -> Any:
    """log(1 + f) - f for m = 1 + f as `split_at` gives it."""
    if form.bits == 32:
        square = f * f
        return cb.fma(square * f, horner(f, form.log_tail), -0.5 * square)
    s = f / (2.0 + f)
    half = 0.5 * f * f
    z = s * s
    return cb.fma(s, cb.fma(z, horner(z, form.log_tail), half), -half)


def _special(x: Any, result: Any) -> Any:
    """What a logarithm is for 0, negative, infinite and NaN arguments."""
    inside = cb.select(x < float("inf"), result, x)
    return cb.select(x < 0.0, float("nan"), cb.select(x == 0.0, -float("inf"), inside))


def _natural(k: Any, f: Any, rest: Any, form: FloatFormat) -> Any:
    """k·ln 2 + f + rest."""
    high, low = fast_two_sum(k * form.ln2[0], f)
    return high + (low + cb.fma(k, form.ln2[1], rest))


def log(x: Any, form: FloatFormat) -> Any:
    """Natural logarithm."""
    k, m = split_at(x, form.first_bits, form)
    f = m - 1.0
    return _special(x, _natural(k, f, _rest(f, form), form))


def log1p(x: Any, form: FloatFormat) -> Any:
    """log(1 + x), accurate for small x."""
    k, _, f, f_low = _split_sum(x, form)
    # The derivative of log(1 + f) is nearly 1 - f.
    low = cb.fma(-f, f_low, f_low)
    result = _natural(k, f, _rest(f, form) + low, form)
    return cb.select(x == 0.0, x, _special(1.0 + x, result))


def log1p_in_parts(high: Any, low: Any, doublings: Any, form: FloatFormat) -> Any:
    """log((1 + high + low)·2**doublings) for high >= 0; `low` counts only beside moderate `high`.

    Infinite for infinite `high`, NaN for NaN.
    """
    k, scale, f, f_rounding = _split_sum(high, form)
    f_low = cb.select(k < form.bias - 2.0, cb.fma(low, scale, f_rounding), 0.0)
    result = _natural(k + doublings, f, _rest(f, form) + cb.fma(-f, f_low, f_low), form)
    return cb.select(high < float("inf"), result, high)


def _split_sum(x: Any, form: FloatFormat) -> Any:
    """(k, 2**-k, f, rounding): 1 + x = (1 + f + rounding)·2**k.

    k comes from the rounded sum, f = (1 + x)·2**-k - 1 is rounded once from x itself.
    """
    total = 1.0 + x
    bits = bits_of(total, form)
    biased = (bits + (form.one_bits - form.first_bits)) >> form.fraction_bits
    k = from_bits(biased | form.integer_bits, form) - (form.integer_base + form.bias)
    exponent = biased << form.fraction_bits
    scale = from_bits(2 * form.one_bits - exponent, form)
    m = from_bits(bits - exponent + form.one_bits, form)
    # Where 2**-k is no normal number, 1 is far below the last place of x.
    ordinary = k < form.bias - 2.0
    f = cb.select(ordinary, cb.fma(x, scale, scale - 1.0), m - 1.0)
    rounding = cb.select(ordinary, cb.fma(x, scale, (scale - 1.0) - f), 0.0)
    return k, scale, f, rounding


def _to_base(x: Any, of_e: cb.Comptime[Pair], of_two: cb.Comptime[Pair], form: FloatFormat) -> Any:
    """Logarithm to the base in which e and 2 have these two-part logarithms."""
    k, m = split_at(x, form.first_bits, form)
    f = m - 1.0
    product = f * of_e[0]
    high, low = fast_two_sum(k * of_two[0], product)
    product_low = cb.fma(f, of_e[0], -product)
    tail = cb.fma(k, of_two[1], cb.fma(f, of_e[1], _rest(f, form) * of_e[0]))
    return _special(x, high + (low + (product_low + tail)))


def log2(x: Any, form: FloatFormat) -> Any:
    """Logarithm to base 2; exact for powers of two."""
    return _to_base(x, form.log2_e, (1.0, 0.0), form)


def log10(x: Any, form: FloatFormat) -> Any:
    """Logarithm to base 10."""
    return _to_base(x, form.log10_e, form.log10_2, form)
