"""How types go together: promotion without loss, what a literal fits, what a literal is by itself.

Pure functions on scalars and Python numbers; `coercion.py` applies them to ops.
"""

from __future__ import annotations

import math

from cubepy.ir import BF16, BOOL, F16, F32, F64, I32, I64, INDEX, U64, Scalar

__all__ = [
    "converts_without_loss",
    "default_type",
    "literal_fits",
    "literal_type",
    "locals_may_become",
    "promote",
    "stores_into",
]

Number = bool | int | float


def promote(left: Scalar, right: Scalar) -> Scalar | None:
    """The type two typed operands meet in without loss, or None."""
    if left == right:
        return left
    if BOOL in (left, right):
        return None
    if INDEX in (left, right):
        other = right if left == INDEX else left
        unsigned_wide = other.is_integer and not other.is_signed and other.bits >= 32
        return INDEX if other.is_integer and not unsigned_wide else None
    if left.is_integer and right.is_integer:
        return _promote_integers(left, right)
    if left.is_float and right.is_float:
        if left.bits == right.bits:
            return None
        return left if left.bits > right.bits else right
    number, real = (left, right) if left.is_integer else (right, left)
    if number.bits <= 16:
        return F64 if real == F64 else F32
    return F64 if number.bits <= 32 and real == F64 else None


def _promote_integers(left: Scalar, right: Scalar) -> Scalar | None:
    if left.is_signed == right.is_signed:
        return left if left.bits >= right.bits else right
    signed, unsigned = (left, right) if left.is_signed else (right, left)
    return signed if signed.bits > unsigned.bits else None


def converts_without_loss(source: Scalar, target: Scalar) -> bool:
    """Whether every value of one type has a place in another."""
    if source == target:
        return True
    if BOOL in (source, target):
        return False
    if source.is_integer and target.is_integer:
        return source.minimum >= target.minimum and source.maximum <= target.maximum
    if source.is_float:
        return target.is_float and target.bits > source.bits
    return source.bits <= {F32: 16, F64: 32}.get(target, 0)


def stores_into(source: Scalar, element: Scalar) -> bool:
    """Whether a store into an array converts: integers without loss, any float to any float."""
    if source.is_float and element.is_float:
        return True
    return source.is_float == element.is_float and converts_without_loss(source, element)


# The least magnitude that rounds to infinity: half a step above the largest finite value.
_TOO_LARGE = {
    F16: (2 - 2.0**-11) * 2.0**15,
    BF16: (2 - 2.0**-8) * 2.0**127,
    F32: (2 - 2.0**-24) * 2.0**127,
    F64: math.inf,
}


def literal_fits(value: Number, type: Scalar) -> bool:
    """Whether a literal can stand for a value of a type."""
    if isinstance(value, bool) or type == BOOL:
        return isinstance(value, bool) and type == BOOL
    if isinstance(value, int):
        if not type.is_float:
            return type.minimum <= value <= type.maximum
        return abs(value) < min(_TOO_LARGE[type], _HUGE)
    if not type.is_float:
        return False
    return not math.isfinite(value) or abs(value) < _TOO_LARGE[type]


_HUGE = (1 << 1024) - (1 << 970)  # the least integer that rounds to infinity in f64


def literal_type(value: Number, other: Scalar) -> Scalar | None:
    """The type a literal has beside an operand of type `other`, or None if they do not go together.

    A float literal makes f32 of an integer of 8 or 16 bits.
    """
    if literal_fits(value, other):
        return other
    if isinstance(value, float) and other.is_integer and other.bits <= 16:
        return F32
    return None


def default_type(value: Number) -> Scalar | None:
    """The type of a literal by itself: i32, f32, bool; wider integers where it must be."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, float):
        return F32 if literal_fits(value, F32) else F64
    return next((type for type in (I32, I64, U64) if literal_fits(value, type)), None)


def locals_may_become(type: Scalar) -> Scalar | None:
    """The type that a local begun by a literal takes for a use of this type; never a narrow one."""
    if type == BOOL or type.bits < 32:
        return F32 if type.is_float else None
    return type
