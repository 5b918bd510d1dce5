"""Results rounded once where NumPy would round twice: fused multiply-add, narrow floats.

The way out is always the same: compute in a wider format rounded *to odd* (an inexact result gets a
last bit of 1), which a second rounding cannot mistake for a tie. Source: Boldo and Melquiond,
"Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE
Transactions on Computers 57(4), 2008. Nothing here knows ops; `evaluate.py` calls it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = [
    "add_to_odd",
    "f64_to_odd_f32",
    "fused_multiply_add_f64",
    "integer_to_odd_f64",
    "sum_of_products_f32",
]

Array = Any  # np.ndarray of any dtype: NumPy's own generics cannot say "same dtype as the operand"

_SPLITTER = 134217729.0  # 2**27 + 1, cuts a double into two halves of 26 bits
_SMALL, _LARGE = 2.0**-900, 2.0**900  # between them the fast f64 path never leaves the range


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """`a + b` rounded, and its exact error."""
    total = a + b
    virtual = total - a
    return total, (a - (total - virtual)) + (b - virtual)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """`a * b` rounded, and its exact error (no overflow, no underflow)."""
    product = a * b
    high_a, low_a = _split(a)
    high_b, low_b = _split(b)
    error = ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b
    return product, error


def _split(value: Array) -> tuple[Array, Array]:
    scaled = value * _SPLITTER
    high = scaled - (scaled - value)
    return high, value - high


def add_to_odd(a: Array, b: Array) -> Array:
    """`a + b` of f64 rounded to odd."""
    total, error = two_sum(a, b)
    bits = np.asarray(total).view(np.int64)
    inexact = np.isfinite(total) & np.isfinite(error) & (error != 0)
    outward = np.where((error > 0) == (total > 0), 1, -1)
    odd = np.where(inexact & ((bits & 1) == 0), bits + outward, bits)
    return np.asarray(odd).view(np.float64)


def sum_of_products_f32(a: Array, b: Array) -> Array:
    """`a + b` of f64 rounded to f32 once; only sums on the middle of two f32 need the odd way."""
    total = np.asarray(a + b)
    result = total.astype(np.float32)
    middle = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    hard = (middle | (np.abs(total) < 2.0**-126)) & (total != 0)
    if hard.any():
        a, b = np.broadcast_arrays(a, b)
        result[hard] = add_to_odd(a[hard], b[hard]).astype(np.float32)
    return result


def f64_to_odd_f32(value: Array) -> Array:
    """f64 to f32, rounded to odd; overflow gives the largest finite f32."""
    near = np.asarray(value.astype(np.float32))
    back = near.astype(np.float64)
    bits = near.view(np.int32)
    inexact = np.isfinite(value) & (back != value)
    outward = np.where(np.abs(value) > np.abs(back), 1, -1)
    odd = np.where(inexact & ((bits & 1) == 0), bits + outward, bits)
    return np.asarray(odd, dtype=np.int32).view(np.float32)


def integer_to_odd_f64(value: Array) -> Array:
    """Any integer or bool to f64 rounded to odd; 53 bits hold all but the low 11 of 64."""
    if value.dtype.itemsize < 8:
        return value.astype(np.float64)
    low = value & value.dtype.type(0xFFF)
    sticky = np.where(low != 0, value.dtype.type(0x800), value.dtype.type(0))
    wide = np.abs(value.astype(np.float64)) >= 2.0**53
    return np.where(wide, (value - low) | sticky, value).astype(np.float64)


def fused_multiply_add_f64(a: Array, b: Array, c: Array) -> Array:
    """`a*b + c` of f64 rounded once: vectors in mid-range, exact rationals at its ends."""
    a, b, c = np.broadcast_arrays(a, b, c)
    plain = a * b + c
    finite = np.isfinite(a) & np.isfinite(b)
    # a*b may overflow where the exact product does not matter beside an infinite c
    result = np.where(finite & np.isinf(c), c, plain)
    finite = finite & np.isfinite(c) & (a != 0) & (b != 0)
    easy = finite & _middling(a * b) & _middling(a) & _middling(b) & (_middling(c) | (c == 0))
    result = np.where(easy, _fused_middle(a, b, c), result)
    hard = finite & ~easy
    if np.any(hard):
        exact = map(_fused_exact, a[hard].tolist(), b[hard].tolist(), c[hard].tolist())
        result[hard] = np.fromiter(exact, dtype=np.float64)
    return result


def _middling(value: Array) -> Array:
    magnitude = np.abs(value)
    return (magnitude >= _SMALL) & (magnitude <= _LARGE)


def _fused_middle(a: Array, b: Array, c: Array) -> Array:
    product, product_error = two_product(a, b)
    addend, addend_error = two_sum(c, product_error)
    total, total_error = two_sum(product, addend)
    return total + add_to_odd(addend_error, total_error)


def _fused_exact(a: float, b: float, c: float) -> float:
    """Correctly rounded `a*b + c` of finite doubles; int / int rounds once, denormals too."""
    (an, ad), (bn, bd), (cn, cd) = (x.as_integer_ratio() for x in (a, b, c))
    numerator = an * bn * cd + cn * ad * bd
    if numerator == 0:
        return a * b + c  # exact here, and it has the sign of zero that IEEE 754 asks for
    try:
        return numerator / (ad * bd * cd)
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf
