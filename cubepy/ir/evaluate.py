"""What each op computes, on NumPy arrays: the single meaning that folding and interpretation share.

Every function takes the operand arrays (NumPy dtypes as `Scalar.numpy`) and the keywords `type` (the result's
scalar) and `attrs`; it returns an array of `type.numpy`. Integers wrap, nothing traps, nothing warns: callers
wrap calls in `numpy.errstate(all="ignore")`. `semantics.md` has the rules in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cubepy.ir.opdef import Attrs, Evaluate
from cubepy.ir.types import BF16, BOOL, F16, INDEX, Scalar

Array = Any  # np.ndarray of any dtype: NumPy's own generics cannot say "same dtype as the operand"


def _half(array: Array) -> bool:
    return array.dtype in (F16.numpy, BF16.numpy)


def elementwise(function: Callable[..., Array]) -> Evaluate:
    """A NumPy function as `evaluate`; halves are computed in f32 and rounded once.

    Exact for one `+ - * / sqrt` of halves: f32 has more than twice their precision plus two bits.
    """

    def run(*operands: Array, type: Scalar, attrs: Attrs) -> Array:
        wide = [operand.astype(np.float32) if _half(operand) else operand for operand in operands]
        return np.asarray(function(*wide)).astype(type.numpy)

    return run


def unsigned_of(array: Array) -> Array:
    """The same bits as an unsigned integer array."""
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))


def trunc_div(a: Array, b: Array) -> Array:
    """C's quotient; x / 0 = 0, INT_MIN / -1 = INT_MIN."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    quotient = np.floor_divide(a, safe)
    if a.dtype.kind == "i":
        minus_one = safe == -1
        safe_again = np.where(minus_one, a.dtype.type(1), safe)
        quotient = np.floor_divide(a, safe_again)
        inexact = (quotient * safe_again != a) & ((a < 0) != (safe_again < 0))
        quotient = np.where(minus_one, np.negative(a), quotient + inexact.astype(a.dtype))
    return np.where(b == 0, a.dtype.type(0), quotient)


def trunc_rem(a: Array, b: Array) -> Array:
    """C's remainder (sign of the dividend); x % 0 = 0. Floats: exact `fmod`."""
    if a.dtype.kind == "f":
        return np.fmod(a, b)
    return np.where(b == 0, a.dtype.type(0), a - trunc_div(a, b) * b)


def floor_div(a: Array, b: Array) -> Array:
    """Floor of the quotient; integers: x // 0 = 0, INT_MIN // -1 = INT_MIN; floats as NumPy."""
    if a.dtype.kind == "f":
        return np.floor_divide(a, b)
    quotient = trunc_div(a, b)
    remainder = a - quotient * b
    adjust = (b != 0) & (remainder != 0) & ((remainder < 0) != (b < 0))
    return quotient - adjust.astype(a.dtype)


def floor_mod(a: Array, b: Array) -> Array:
    """`a - floor_div(a, b) * b`, sign of `b`; x % 0 = 0; floats as NumPy's `remainder`."""
    if a.dtype.kind == "f":
        return np.remainder(a, b)
    return np.where(b == 0, a.dtype.type(0), a - floor_div(a, b) * b)


def integer_power(base: Array, exponent: Array) -> Array:
    """`base ** exponent` with wrap-around; a negative exponent gives 0 except for bases 1 and -1."""
    result = np.ones_like(base)
    factor, left = base.copy(), np.where(exponent > 0, exponent, exponent.dtype.type(0))
    while np.any(left):
        result = np.where(left & 1, result * factor, result)
        factor, left = factor * factor, left >> 1
    if exponent.dtype.kind == "u":
        return result
    zero, one = base.dtype.type(0), base.dtype.type(1)
    inverse = np.where(base == one, one, zero)
    if base.dtype.kind == "i":
        odd = (exponent & 1) == 1
        inverse = np.where(base == -one, np.where(odd, -one, one), inverse)
    return np.where(exponent < 0, inverse, result)


def shift_left(value: Array, count: Array) -> Array:
    """Count taken as unsigned; at or above the width gives 0."""
    width = value.dtype.itemsize * 8
    unsigned = unsigned_of(np.ascontiguousarray(value))
    steps = unsigned_of(np.ascontiguousarray(count)).astype(np.uint64)
    inside = np.minimum(steps, np.uint64(width - 1)).astype(unsigned.dtype)
    shifted = np.where(steps < width, unsigned << inside, unsigned.dtype.type(0))
    return shifted.view(value.dtype)


def shift_right(value: Array, count: Array) -> Array:
    """Arithmetic for signed, logical for unsigned; count at or above the width gives 0 or -1."""
    width = value.dtype.itemsize * 8
    steps = unsigned_of(np.ascontiguousarray(count)).astype(np.uint64)
    inside = np.minimum(steps, np.uint64(width - 1)).astype(value.dtype)
    shifted = value >> inside
    if value.dtype.kind == "i":
        return shifted
    return np.where(steps < width, shifted, value.dtype.type(0))


def minimum(a: Array, b: Array) -> Array:
    """NaN if either is NaN; -0.0 before 0.0."""
    if a.dtype.kind != "f":
        return np.minimum(a, b)
    lower = np.where((a < b) | ((a == b) & np.signbit(a)), a, b)
    return np.where(np.isnan(a), a, np.where(np.isnan(b), b, lower))


def maximum(a: Array, b: Array) -> Array:
    """NaN if either is NaN; 0.0 above -0.0."""
    if a.dtype.kind != "f":
        return np.maximum(a, b)
    upper = np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b)
    return np.where(np.isnan(a), a, np.where(np.isnan(b), b, upper))


def fmin(a: Array, b: Array) -> Array:
    """The smaller; a NaN operand is ignored."""
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, minimum(a, b)))


def fmax(a: Array, b: Array) -> Array:
    """The larger; a NaN operand is ignored."""
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, maximum(a, b)))


def _exact_fma(a: float, b: float, c: float, mantissa_bits: int) -> float:
    """Correctly rounded `a*b + c` of finite doubles, by exact rational arithmetic."""
    from_ratio = _ratio(a), _ratio(b), _ratio(c)
    (an, ad), (bn, bd), (cn, cd) = from_ratio
    numerator, denominator = an * bn * cd + cn * ad * bd, ad * bd * cd
    if numerator == 0:
        return a * b + c  # signs of zero follow the two-step sum, which is exact here
    return numerator / denominator  # int / int is correctly rounded to double


def _ratio(value: float) -> tuple[int, int]:
    return value.as_integer_ratio()


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """`a*b + c` rounded once."""
    if a.dtype == np.float32:
        return _fma_f32(a, b, c)
    plain = a * b + c
    flat = [np.ravel(np.broadcast_to(x, plain.shape)) for x in (a, b, c)]
    result = np.ravel(plain).copy()
    finite = np.isfinite(flat[0]) & np.isfinite(flat[1]) & np.isfinite(flat[2])
    for place in np.flatnonzero(finite):
        result[place] = _fma_f64(*(float(x[place]) for x in flat))
    return result.reshape(plain.shape)


def _fma_f64(a: float, b: float, c: float) -> float:
    try:
        return _exact_fma(a, b, c, 53)
    except OverflowError:
        return math.copysign(math.inf, a * b if abs(a * b) >= abs(c) else c)


def _fma_f32(a: Array, b: Array, c: Array) -> Array:
    """Through f64 with round-to-odd: the product of two f32 is exact in f64, the sum is made odd if inexact.

    Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
    rounding to odd", IEEE Transactions on Computers 57(4), 2008.
    """
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    total = product + addend
    # TwoSum gives the exact error of the f64 addition
    virtual = total - product
    error = (product - (total - virtual)) + (addend - virtual)
    bits = total.view(np.int64) if total.ndim else np.asarray(total).view(np.int64)
    even = (bits & 1) == 0
    inexact = np.isfinite(total) & (error != 0) & np.isfinite(error)
    toward = np.where((error > 0) == (total > 0), 1, -1)
    odd = np.where(inexact & even, bits + toward, bits)
    return np.asarray(odd).view(np.float64).astype(np.float32)


def cast(value: Array, *, type: Scalar, attrs: Attrs) -> Array:
    """Conversions of semantics.md: ints wrap, float to int saturates with NaN as 0, floats round once."""
    target = type.numpy
    if type is BOOL:
        return np.asarray(value != 0)
    source_is_float = value.dtype.kind == "f" or _half(value)
    if not source_is_float or type.is_float:
        return _to_half(value, type) if type is BF16 else np.asarray(value).astype(target)
    wide = value.astype(np.float64)
    low, high = float(type.minimum), float(type.maximum + 1)
    inside = (wide > low - 1 if type.bits < 64 else wide >= low) & (wide < high)
    clipped = np.where(inside, np.trunc(wide), 0.0).astype(target)
    below = np.asarray(type.minimum, dtype=target)
    above = np.asarray(type.maximum, dtype=target)
    saturated = np.where(wide >= high, above, np.where(wide <= low, below, clipped))
    return np.where(np.isnan(wide), target.type(0), saturated)


def _to_half(value: Array, type: Scalar) -> Array:
    """To bf16 with one rounding: f64 and wide integers go to f32 by round-to-odd first."""
    if value.dtype.kind in "iu" or value.dtype == np.bool_:
        return _integers_to_odd_f32(value).astype(type.numpy)
    if value.dtype == np.float64:
        return _f64_to_odd_f32(value).astype(type.numpy)
    return value.astype(type.numpy)


def _f64_to_odd_f32(value: Array) -> Array:
    near = value.astype(np.float32)
    back = near.astype(np.float64)
    bits = np.asarray(near).view(np.int32)
    inexact = np.isfinite(value) & (back != value)
    even = (bits & 1) == 0
    outward = np.abs(value) > np.abs(back)
    odd = np.where(inexact & even, bits + np.where(outward, 1, -1), bits)
    return np.asarray(odd, dtype=np.int32).view(np.float32)


def _integers_to_odd_f32(value: Array) -> Array:
    """Any integer to f32 with a sticky last bit; 64-bit integers lose nothing that bf16 rounding could see."""
    wide = value.astype(object)
    flat = np.ravel(np.asarray(wide, dtype=object))
    out = np.empty(flat.shape, dtype=np.float32)
    for place, number in enumerate(flat):
        magnitude = abs(int(number))
        shift = max(0, magnitude.bit_length() - 24)
        kept = magnitude >> shift
        sticky = 1 if magnitude & ((1 << shift) - 1) else 0
        out[place] = math.copysign(math.ldexp(kept | sticky, shift), -1.0 if number < 0 else 1.0)
    return out.reshape(value.shape)


def bitcast(value: Array, *, type: Scalar, attrs: Attrs) -> Array:
    """The same bits as another type of the same width."""
    return np.ascontiguousarray(value).view(type.numpy).reshape(np.shape(value))


def select(condition: Array, a: Array, b: Array, *, type: Scalar, attrs: Attrs) -> Array:
    """`a` where the condition holds, else `b`."""
    return np.where(condition, a, b).astype(type.numpy)


def constant(*, type: Scalar, attrs: Attrs) -> Array:
    """The attribute `value` as a 0-d array."""
    return np.asarray(attrs["value"]).astype(type.numpy)


def sign(value: Array) -> Array:
    """-1, 0 or 1; zeros keep their sign, NaN stays NaN."""
    if value.dtype.kind != "f":
        return np.sign(value)
    return np.where(value == 0, value, np.where(np.isnan(value), value, np.copysign(1.0, value)))


def popcount(value: Array) -> Array:
    """Number of one bits."""
    return np.bitwise_count(unsigned_of(np.ascontiguousarray(value)))


def count_leading_zeros(value: Array) -> Array:
    """Zero bits above the highest one; the width for 0."""
    bits = unsigned_of(np.ascontiguousarray(value)).copy()
    width = bits.dtype.itemsize * 8
    shift = 1
    while shift < width:
        bits |= bits >> bits.dtype.type(shift)
        shift *= 2
    return width - np.bitwise_count(bits).astype(np.int64)


def count_trailing_zeros(value: Array) -> Array:
    """Zero bits below the lowest one; the width for 0."""
    bits = unsigned_of(np.ascontiguousarray(value))
    return np.bitwise_count(~bits & (bits - bits.dtype.type(1)))


def multiply_high(a: Array, b: Array) -> Array:
    """The upper half of the double-width product."""
    width = a.dtype.itemsize * 8
    if width < 64:
        wide = np.dtype(f"{a.dtype.kind}8")
        return (a.astype(wide) * b.astype(wide)) >> wide.type(width)
    product = (a.astype(object) * b.astype(object)) >> 64
    return np.asarray(product).astype(a.dtype)


