"""What each op computes, on NumPy arrays: the single meaning that folding and interpretation share.

Every function takes the operand arrays (NumPy dtypes as `Scalar.numpy`) and the keywords `type`
(the result's scalar) and `attrs`; it returns an array of `type.numpy`, which may share memory with
an operand: values are never written. Integers wrap, nothing traps, nothing warns: callers wrap
calls in `numpy.errstate(all="ignore")`. `semantics.md` has the rules in words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cubepy.ir.opdef import Attrs, Evaluate
from cubepy.ir.rounding import (
    add_to_odd,
    f64_to_odd_f32,
    fused_multiply_add_f64,
    integer_to_odd_f64,
    sum_of_products_f32,
)
from cubepy.ir.types import BF16, BOOL, F16, Scalar

Array = Any  # np.ndarray of any dtype: NumPy's own generics cannot say "same dtype as the operand"


def _half(array: Array) -> bool:
    return array.dtype in (F16.numpy, BF16.numpy)


def elementwise(function: Callable[..., Array]) -> Evaluate:
    """A NumPy function as `evaluate`; halves are computed in f32 and rounded once.

    Exact for one `+ - * / sqrt` of halves: f32 has at least twice their precision plus two bits,
    and the denormals of bf16 still have 16 bits below them.
    """

    def run(*operands: Array, type: Scalar, attrs: Attrs) -> Array:
        wide = [operand.astype(np.float32) if _half(operand) else operand for operand in operands]
        return np.asarray(function(*wide)).astype(type.numpy, copy=False)

    return run


def unsigned_of(array: Array) -> Array:
    """The same bits as an unsigned integer array, whatever the strides."""
    return np.asarray(array).view(np.dtype(f"u{array.dtype.itemsize}"))


def _divisor(b: Array) -> Array:
    """`b` with 1 in place of 0 and -1, whose quotients need no division and could trap."""
    harmless = (b == 0) | (b == -1) if b.dtype.kind == "i" else b == 0
    return np.where(harmless, b.dtype.type(1), b)


def _quotient(quotient: Array, a: Array, b: Array) -> Array:
    """`quotient` by `_divisor(b)` made right for 0 (gives 0) and -1 (negates, with wrap-around)."""
    if b.dtype.kind == "i":
        quotient = np.where(b == -1, np.negative(a), quotient)
    return np.where(b == 0, a.dtype.type(0), quotient)


def trunc_div(a: Array, b: Array) -> Array:
    """C's quotient; x / 0 = 0, INT_MIN / -1 = INT_MIN."""
    divisor = _divisor(b)
    return _quotient(np.floor_divide(a - np.fmod(a, divisor), divisor), a, b)


def trunc_rem(a: Array, b: Array) -> Array:
    """C's remainder (sign of the dividend); x % 0 = 0."""
    return np.fmod(a, _divisor(b))


def floor_div(a: Array, b: Array) -> Array:
    """Floor of the quotient; integers: x // 0 = 0, INT_MIN // -1 = INT_MIN; floats as NumPy."""
    if a.dtype.kind == "f":
        return np.floor_divide(a, b)
    return _quotient(np.floor_divide(a, _divisor(b)), a, b)


def floor_mod(a: Array, b: Array) -> Array:
    """`a - floor_div(a, b) * b`, sign of `b`; x % 0 = 0; floats as NumPy's `remainder`."""
    return np.remainder(a, b if a.dtype.kind == "f" else _divisor(b))


def integer_power(base: Array, exponent: Array) -> Array:
    """`base ** exponent` with wrap-around; a negative one gives 0 except for bases 1 and -1."""
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
    unsigned = unsigned_of(value)
    steps = unsigned_of(count).astype(np.uint64)
    inside = np.minimum(steps, np.uint64(width - 1)).astype(unsigned.dtype)
    shifted = np.where(steps < width, unsigned << inside, unsigned.dtype.type(0))
    return shifted.view(value.dtype)


def shift_right(value: Array, count: Array) -> Array:
    """Arithmetic for signed, logical for unsigned; count at or above the width gives 0 or -1."""
    width = value.dtype.itemsize * 8
    steps = unsigned_of(count).astype(np.uint64)
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


def fused_multiply_add(a: Array, b: Array, c: Array, *, type: Scalar, attrs: Attrs) -> Array:
    """`a*b + c` rounded once; below f64 the product is exact in f64, the sum rounded to odd."""
    if type.bits == 64:
        return fused_multiply_add_f64(a, b, c)
    product = a.astype(np.float64) * b.astype(np.float64)
    if type.bits == 32:
        return sum_of_products_f32(product, c.astype(np.float64))
    return _narrow(add_to_odd(product, c.astype(np.float64)), type)


def _narrow(value: Array, type: Scalar) -> Array:
    """Any float to any float with one rounding; NumPy would round twice from f64 to bf16."""
    if type == BF16 and value.dtype == np.float64:
        value = f64_to_odd_f32(value)
    return np.asarray(value).astype(type.numpy, copy=False)


def cast(value: Array, *, type: Scalar, attrs: Attrs) -> Array:
    """Conversions: ints wrap, float to int saturates with NaN as 0, floats round once."""
    source_is_float = value.dtype.kind == "f" or _half(value)
    if type == BOOL:
        return np.asarray(value != value.dtype.type(0))
    if source_is_float and not type.is_float:
        return _float_to_integer(value, type)
    if not type.is_float:
        return np.asarray(value).astype(type.numpy, copy=False)
    return _narrow(value if source_is_float or type != BF16 else integer_to_odd_f64(value), type)


def _float_to_integer(value: Array, type: Scalar) -> Array:
    wide: Array = np.trunc(value.astype(np.float64))
    low, beyond = float(type.minimum), float(type.maximum + 1)  # powers of two or 0: exact
    inside = np.where((wide >= low) & (wide < beyond), wide, 0.0).astype(type.numpy)
    smallest: Array = np.asarray(type.minimum, dtype=type.numpy)
    largest: Array = np.asarray(type.maximum, dtype=type.numpy)
    return np.where(wide >= beyond, largest, np.where(wide < low, smallest, inside))


def bitcast(value: Array, *, type: Scalar, attrs: Attrs) -> Array:
    """The same bits as another type of the same width."""
    return np.asarray(value).view(type.numpy)


def select(condition: Array, a: Array, b: Array, *, type: Scalar, attrs: Attrs) -> Array:
    """`a` where the condition holds, else `b`."""
    chosen: Array = np.where(condition, a, b)
    return chosen.astype(type.numpy, copy=False)


def constant(*, type: Scalar, attrs: Attrs) -> Array:
    """The attribute `value` as a 0-d array; floats are rounded to the type once."""
    if type.is_float:
        return _narrow(np.asarray(attrs["value"]), type)
    return np.asarray(attrs["value"], dtype=type.numpy)


def sign(value: Array) -> Array:
    """-1, 0 or 1; zeros keep their sign, NaN stays NaN."""
    if value.dtype.kind != "f":
        return np.sign(value)
    return np.where(value == 0, value, np.where(np.isnan(value), value, np.copysign(1.0, value)))


def popcount(value: Array) -> Array:
    """Number of one bits."""
    return np.bitwise_count(unsigned_of(value))


def count_leading_zeros(value: Array) -> Array:
    """Zero bits above the highest one; the width for 0."""
    bits = unsigned_of(value).copy()
    width = bits.dtype.itemsize * 8
    shift = 1
    while shift < width:
        bits |= bits >> bits.dtype.type(shift)
        shift *= 2
    return width - np.bitwise_count(bits).astype(np.int64)


def count_trailing_zeros(value: Array) -> Array:
    """Zero bits below the lowest one; the width for 0."""
    bits = unsigned_of(value)
    return np.bitwise_count(~bits & (bits - bits.dtype.type(1)))


def find_first_set(value: Array) -> Array:
    """The place of the lowest one bit, counted from 1; 0 if there is none."""
    return np.where(value == 0, 0, count_trailing_zeros(value).astype(np.int64) + 1)


def reverse_bits(value: Array) -> Array:
    """The bits in the opposite order: bytes by a table, then the order of the bytes."""
    table = np.packbits(
        np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1), axis=1, bitorder="little"
    )[:, 0]
    bits = np.ascontiguousarray(value)
    reversed_bytes = table[bits.view(np.uint8)].reshape(*bits.shape, bits.itemsize)[..., ::-1]
    return np.ascontiguousarray(reversed_bytes).view(bits.dtype).reshape(np.shape(value))


def rotate_left(value: Array, count: Array) -> Array:
    """Bits leave above and enter below; the count is taken modulo the width."""
    bits = unsigned_of(value)
    width = bits.dtype.type(bits.dtype.itemsize * 8)
    steps = unsigned_of(count) % width
    kept = bits << steps
    return (kept | np.where(steps == 0, bits.dtype.type(0), bits >> (width - steps))).view(
        value.dtype
    )


def rotate_right(value: Array, count: Array) -> Array:
    """Left by the opposite count, for widths are powers of two."""
    return rotate_left(value, np.negative(count))


def saturating_add(a: Array, b: Array) -> Array:
    """The sum, or the end of the type that it lies beyond."""
    info, total = np.iinfo(a.dtype), a + b
    total = np.where((b > 0) & (total < a), a.dtype.type(info.max), total)
    return np.where((b < 0) & (total > a), a.dtype.type(info.min), total)


def saturating_subtract(a: Array, b: Array) -> Array:
    """The difference, or the end of the type that it lies beyond."""
    info, rest = np.iinfo(a.dtype), a - b
    rest = np.where((b > 0) & (rest > a), a.dtype.type(info.min), rest)
    return np.where((b < 0) & (rest < a), a.dtype.type(info.max), rest)


def mantissa(value: Array) -> Array:
    """The significand of C's frexp, from one half to one; zeros, infinities and NaN as they are."""
    return np.frexp(value)[0]


def exponent(value: Array) -> Array:
    """The exponent of C's frexp; 0 for zeros, infinities and NaN."""
    return np.where(np.isfinite(value), np.frexp(value)[1], np.int32(0))


def scale_by_power(value: Array, power: Array, *, type: Scalar, attrs: Attrs) -> Array:
    """`value · 2**power` rounded once; no half is rounded in f32 where that counts."""
    wide = value.astype(np.float32) if _half(value) else value
    return np.asarray(np.ldexp(wide, power)).astype(type.numpy, copy=False)


def multiply_high(a: Array, b: Array) -> Array:
    """The upper half of the double-width product."""
    width = a.dtype.itemsize * 8
    if width < 64:
        wide = np.dtype(f"{a.dtype.kind}8")
        return (a.astype(wide) * b.astype(wide)) >> wide.type(width)
    high = _multiply_high_u64(unsigned_of(a), unsigned_of(b))
    if a.dtype.kind == "u":
        return high
    zero = np.int64(0)
    return high.view(np.int64) - np.where(a < 0, b, zero) - np.where(b < 0, a, zero)


def _multiply_high_u64(a: Array, b: Array) -> Array:
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    middle = (a >> half) * (b & low) + ((a & low) * (b & low) >> half)
    other = (a & low) * (b >> half) + (middle & low)
    return np.asarray((a >> half) * (b >> half) + (middle >> half) + (other >> half))
