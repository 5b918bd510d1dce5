"""Integer intervals: what an op can give when its operands lie in given intervals.

An interval is a pair (lowest, highest) of Python integers. A result that may wrap around could be
anything its type holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cubepy.ir import ops
from cubepy.ir.opdef import OpDef
from cubepy.ir.types import BOOL, Scalar

__all__ = ["TRANSFERS", "Interval", "meet", "union", "whole"]

Interval = tuple[int, int]
Transfer = Callable[[Scalar, Interval, Interval], Interval]


def whole(type: Scalar) -> Interval:
    """Everything an integer type holds; 0 and 1 for bool."""
    return (0, 1) if type is BOOL else (type.minimum, type.maximum)


def union(a: Interval, b: Interval) -> Interval:
    """The smallest interval that holds both."""
    return min(a[0], b[0]), max(a[1], b[1])


def meet(a: Interval, b: Interval) -> Interval:
    """What lies in both; where nothing does (code that never runs), one value of `a`."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else (a[0], a[0])


def _fits(type: Scalar, low: int, high: int) -> Interval:
    return (low, high) if type.minimum <= low and high <= type.maximum else whole(type)


def _add(type: Scalar, a: Interval, b: Interval) -> Interval:
    return _fits(type, a[0] + b[0], a[1] + b[1])


def _sub(type: Scalar, a: Interval, b: Interval) -> Interval:
    return _fits(type, a[0] - b[1], a[1] - b[0])


def _mul(type: Scalar, a: Interval, b: Interval) -> Interval:
    corners = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return _fits(type, min(corners), max(corners))


def _floor_div(type: Scalar, a: Interval, b: Interval) -> Interval:
    """No quotient is further from 0 than what was divided; by 0 it is 0."""
    if b[0] <= 0:
        furthest = max(abs(a[0]), abs(a[1]))
        return _fits(type, -furthest if type.is_signed else 0, furthest)
    corners = (a[0] // b[0], a[0] // b[1], a[1] // b[0], a[1] // b[1])
    return min(corners), max(corners)


def _trunc_div(type: Scalar, a: Interval, b: Interval) -> Interval:
    return _floor_div(type, a, (min(b[0], 0), b[1]) if a[0] < 0 else b)


def _floor_mod(type: Scalar, a: Interval, b: Interval) -> Interval:
    """The sign of the divisor, and nearer to 0; nothing changes for 0 <= a < b."""
    low, high = min(b[0] + 1, 0), max(b[1] - 1, 0)
    return (low, min(high, a[1])) if a[0] >= 0 else (low, high)


def _trunc_rem(type: Scalar, a: Interval, b: Interval) -> Interval:
    """The sign of what was divided, and nearer to 0 than either."""
    furthest = max(abs(b[0]), abs(b[1]), 1) - 1
    return max(min(a[0], 0), -furthest), min(max(a[1], 0), furthest)


def _min(type: Scalar, a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), min(a[1], b[1])


def _max(type: Scalar, a: Interval, b: Interval) -> Interval:
    return max(a[0], b[0]), max(a[1], b[1])


def _bit_and(type: Scalar, a: Interval, b: Interval) -> Interval:
    """Not above an operand that is not negative."""
    highs = [high for low, high in (a, b) if low >= 0]
    return (0, min(highs)) if highs else _bit_xor(type, a, b)


def _bit_or(type: Scalar, a: Interval, b: Interval) -> Interval:
    low, high = _bit_xor(type, a, b)
    return (max(a[0], b[0]), high) if low == 0 else (low, high)


def _bit_xor(type: Scalar, a: Interval, b: Interval) -> Interval:
    """Bits above those of both operands are those of the sign."""
    every = (*a, *b)
    reach = 1 << max((value if value >= 0 else ~value).bit_length() for value in every)
    return (-reach if min(every) < 0 else 0), reach - 1


def _shr(type: Scalar, a: Interval, b: Interval) -> Interval:
    if b[0] < 0:
        return min(a[0], -1 if type.is_signed else 0), max(a[1], 0)
    low, high = min(b[0], type.bits), min(b[1], type.bits)
    corners = (a[0] >> low, a[0] >> high, a[1] >> low, a[1] >> high)
    return min(corners), max(corners)


def _shl(type: Scalar, a: Interval, b: Interval) -> Interval:
    if a[0] < 0 or b[0] < 0 or b[1] >= type.bits:
        return whole(type)
    return _fits(type, a[0] << b[0], a[1] << b[1])


TRANSFERS: Mapping[OpDef, Transfer] = {
    ops.ADD: _add,
    ops.SUB: _sub,
    ops.MUL: _mul,
    ops.FLOOR_DIV: _floor_div,
    ops.FLOOR_MOD: _floor_mod,
    ops.TRUNC_DIV: _trunc_div,
    ops.TRUNC_REM: _trunc_rem,
    ops.MIN: _min,
    ops.MAX: _max,
    ops.BIT_AND: _bit_and,
    ops.BIT_OR: _bit_or,
    ops.BIT_XOR: _bit_xor,
    ops.SHR: _shr,
    ops.SHL: _shl,
}
