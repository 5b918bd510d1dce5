"""Functions of integers at any width: rotations, the order of bits, saturating sums.

A target with an instruction for one of them has the op itself and needs none of this.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.records import dataclass

__all__ = [
    "IntegerFormat",
    "bit_reverse",
    "find_first_set",
    "rotl",
    "rotr",
    "saturating_add",
    "saturating_sub",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerFormat:
    """An integer type, as a kernel names it, and the unsigned type of its bits."""

    bits: int
    signed: bool
    minimum: int
    maximum: int
    type: Any
    unsigned: Any


def rotl(value: Any, count: Any, form: IntegerFormat) -> Any:
    """Bits moved up by the count modulo the width."""
    bits = cb.bitcast(form.unsigned, value)
    near = cb.bitcast(form.unsigned, count) & (form.bits - 1)
    return cb.bitcast(form.type, (bits << near) | (bits >> (form.bits - near)))


def rotr(value: Any, count: Any, form: IntegerFormat) -> Any:
    """Bits moved down by the count modulo the width."""
    bits = cb.bitcast(form.unsigned, value)
    near = cb.bitcast(form.unsigned, count) & (form.bits - 1)
    return cb.bitcast(form.type, (bits >> near) | (bits << (form.bits - near)))


def _swapped(bits: Any, step: Any, lower: Any) -> Any:
    """Neighbouring groups of `step` bits, the lower of which have ones in `lower`, swapped."""
    return ((bits & lower) << step) | ((bits >> step) & lower)


def bit_reverse(value: Any, form: IntegerFormat) -> Any:
    """Halves swapped, then quarters, down to single bits."""
    bits = cb.bitcast(form.unsigned, value)
    for level in cb.unroll(range(form.bits.bit_length() - 2, -1, -1)):
        bits = _swapped(bits, 1 << level, ((1 << form.bits) - 1) // ((1 << (1 << level)) + 1))
    return cb.bitcast(form.type, bits)


def find_first_set(value: Any, form: IntegerFormat) -> Any:
    """The place of the lowest one bit, counted from 1; 0 if there is none."""
    return cb.select(value == 0, 0, cb.ctz(value) + 1)


def saturating_add(lhs: Any, rhs: Any, form: IntegerFormat) -> Any:
    """A sum that overflowed lies on the wrong side of an operand."""
    total = lhs + rhs
    if not form.signed:
        return cb.select(total < lhs, form.maximum, total)
    end = cb.select(rhs < 0, form.type(form.minimum), form.type(form.maximum))
    return cb.select((rhs < 0) != (total < lhs), end, total)


def saturating_sub(lhs: Any, rhs: Any, form: IntegerFormat) -> Any:
    """A difference that overflowed lies on the wrong side of the first operand."""
    rest = lhs - rhs
    if not form.signed:
        return cb.select(lhs < rhs, 0, rest)
    end = cb.select(rhs < 0, form.type(form.maximum), form.type(form.minimum))
    return cb.select((rhs > 0) != (rest < lhs), end, rest)
