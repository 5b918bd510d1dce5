"""Floor division of neighbours by one number: `i // width` and `i % width` along the lanes.

Neighbours up to the divisor apart have at most two quotients, so one scalar division a part gives
all: lanes before the next multiple have its quotient, the others one more. Vectors of 64-bit
divisions, which take a division a lane, are left for small and negative divisors.
"""

from __future__ import annotations

from cubepy.codegen.llvm.bounds import lanes_below
from cubepy.codegen.llvm.division import INTEGER
from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.lanes import Lanes
from cubepy.ir import Op, Scalar, ops
from cubepy.ir.analyses import UNIFORM, part

__all__ = ["divide_along", "floored"]


def divide_along(gang: Gang, op: Op) -> bool:
    """Emit a floor division or modulus of that kind; gives False if it is none."""
    left, right = op.operands
    scalar = op.type
    assert isinstance(scalar, Scalar)
    if not gang.module.target.does("divisions") or not scalar.is_integer or scalar.bits < 32:
        return False
    if gang.values[left].shape != part(1) or gang.values[right].shape != UNIFORM:
        return False
    divisor, bases = gang.scalar(right), gang.bases(left)
    starts = _starts(gang, scalar, bases, divisor)
    few, many, join = gang.fresh_labels("near", "far", "join")
    gang.w.branch(_is_near(gang, scalar, bases, divisor), few, many, likely=True)
    gang.w.begin(few)
    near = [_near(gang, op, scalar, *start, divisor) for start in starts]
    gang.w.jump(join)
    gang.w.begin(many)
    divide = INTEGER[op.opdef.name]
    pairs = zip(gang.vectors(left), gang.vectors(right), strict=True)
    far = [divide(gang.vec, scalar, a, b) for a, b in pairs]
    far_end = gang.w.label
    gang.w.jump(join)
    gang.w.begin(join)
    type = gang.vec.type(scalar)
    gang.define(op, tuple(
        gang.w.value(f"phi {type} [ {a}, %{few} ], [ {b}, %{far_end} ]")
        for a, b in zip(near, far, strict=True)
    ))  # fmt: skip
    return True


def _starts(
    gang: Gang, scalar: Scalar, bases: tuple[str, ...], divisor: str
) -> list[tuple[str, str]]:
    """Quotient and remainder of each part's first lane, for divisors of at least the lanes."""
    least = gang.one.call(
        "smax" if scalar.is_signed else "umax", scalar, divisor, str(gang.layout.lanes)
    )
    return [floored(gang.one, scalar, base, least) for base in bases]


def floored(one: Lanes, scalar: Scalar, base: str, divisor: str) -> tuple[str, str]:
    """Python's quotient and remainder of two numbers, for divisors above 0."""
    quotient = one.instruction("sdiv" if scalar.is_signed else "udiv", scalar, base, divisor)
    product = one.instruction("mul", scalar, quotient, divisor)
    remainder = one.instruction("sub", scalar, base, product)
    if not scalar.is_signed:
        return quotient, remainder
    negative = one.instruction("ashr", scalar, remainder, str(scalar.bits - 1))
    moved = one.instruction("and", scalar, negative, divisor)
    return (
        one.instruction("add", scalar, quotient, negative),
        one.instruction("add", scalar, remainder, moved),
    )


def _is_near(gang: Gang, scalar: Scalar, bases: tuple[str, ...], divisor: str) -> str:
    """Whether no part spans more than one multiple, and no lane wraps around."""
    lanes, order = gang.layout.lanes, "s" if scalar.is_signed else "u"
    total = gang.one.compare(f"icmp {order}ge", scalar, divisor, str(lanes))
    for base in bases:
        last = str(scalar.maximum - (lanes - 1))
        fits = gang.one.compare(f"icmp {order}le", scalar, base, last)
        total = gang.w.value(f"and i1 {total}, {fits}", "near")
    return total


def _near(gang: Gang, op: Op, scalar: Scalar, quotient: str, remainder: str, divisor: str) -> str:
    """One part: lanes below divisor - remainder have the first lane's quotient."""
    one, lanes = gang.one, gang.layout.lanes
    room = one.instruction("sub", scalar, divisor, remainder)
    least = one.call("umin", scalar, room, str(lanes))
    limit = least if scalar.bits == 32 else gang.w.value(f"trunc i64 {least} to i32")
    first = lanes_below(gang, limit)
    if op.opdef is ops.FLOOR_DIV:
        after = one.instruction("add", scalar, quotient, "1")
        return _choose(gang, scalar, first, quotient, after)
    before = one.instruction("sub", scalar, remainder, divisor)
    start = _choose(gang, scalar, first, remainder, before)
    ramp = "<" + ", ".join(f"{one.type(scalar)} {lane}" for lane in range(lanes)) + ">"
    return gang.vec.instruction("add", scalar, start, ramp)


def _choose(gang: Gang, scalar: Scalar, first: str, a: str, b: str) -> str:
    element = gang.one.type(scalar)
    either = (gang.vec.everywhere(element, name) for name in (a, b))
    return gang.vec.select(first, scalar, *either)
