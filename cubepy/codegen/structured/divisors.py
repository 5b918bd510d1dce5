"""Divisors that are known while compiling, as far as C-like targets treat them alike."""

from __future__ import annotations

from cubepy.ir import Op, Scalar, ops

__all__ = ["shift_of_floored"]


def shift_of_floored(op: Op) -> int | None:
    """By how many bits a shift gives the floored quotient, and a mask of so many the rest; None
    for other divisions, and divisors that are no power of two.
    """
    number = op.operands[1].attrs.get("value")
    scalar = op.type
    assert isinstance(scalar, Scalar)
    floored = op.opdef in (ops.FLOOR_DIV, ops.FLOOR_MOD) or not scalar.is_signed
    if op.operands[1].opdef is not ops.CONST or not isinstance(number, int) or not floored:
        return None
    return number.bit_length() - 1 if number > 0 and number & (number - 1) == 0 else None
