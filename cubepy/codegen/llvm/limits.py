"""What a value cannot exceed by what it is made of: `cb.index(byte)`, `i & 1023`, `i % 100`.

Where lanes go anywhere in a table, but not far, one test of the table's length serves all of them.
"""

from __future__ import annotations

from cubepy.ir import BOOL, Op, Scalar, ops

__all__ = ["limits_of"]

_SMALL = 16


def limits_of(op: Op) -> tuple[int, int] | None:
    """The least and the greatest value, if they are worth knowing."""
    scalar = op.type
    if not isinstance(scalar, Scalar) or not scalar.is_integer:
        return None
    number = _constant(op.operands[-1]) if op.operands else None
    if op.opdef is ops.CAST:
        inner = (0, 1) if op.operands[0].type is BOOL else limits_of(op.operands[0])
        if inner and scalar.minimum <= inner[0] and inner[1] <= scalar.maximum:
            return inner
    elif op.opdef is ops.BIT_AND and number is not None and number >= 0:
        return 0, number
    elif op.opdef is ops.FLOOR_MOD and number is not None and number > 0:
        return 0, number - 1
    elif op.opdef is ops.SHR and not scalar.is_signed and number is not None:
        return 0, scalar.maximum >> min(max(number, 0), scalar.bits)
    return (scalar.minimum, scalar.maximum) if scalar.bits <= _SMALL else None


def _constant(op: Op) -> int | None:
    value = op.attrs.get("value") if op.opdef is ops.CONST else None
    return value if isinstance(value, int) else None
