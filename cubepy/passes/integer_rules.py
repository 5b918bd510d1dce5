"""Identities of integer arithmetic that hold with wrap-around and total division, as rules.

None of them is applied to floats: `semantics.md` lists what may never be rewritten there.
"""

from __future__ import annotations

from collections.abc import Mapping

from cubepy.ir import INTEGERS, Op, OpDef, Rewriter, Rule, Scalar, ops, scalar_type
from cubepy.passes.fold_constants import constant

__all__ = ["INTEGER_RULES"]


def _wrapped(type: Scalar, value: int) -> int:
    """The value that a type holds for any integer."""
    masked = value & ((1 << type.bits) - 1)
    return masked - (1 << type.bits) if masked > type.maximum else masked


def _integer(op: Op) -> int | None:
    value = constant(op)
    return value if isinstance(value, int) else None


def _sum(base: Op, offset: int, like: Op, rewriter: Rewriter) -> Op:
    """`base + offset`."""
    type = scalar_type(like)
    offset = _wrapped(type, offset)
    if offset == 0:
        return base
    return rewriter.emit(ops.ADD, base, rewriter.const(type, offset, like), like=like)


def _offset(op: Op) -> tuple[Op, int]:
    """An op as something plus a constant."""
    if op.opdef is ops.ADD or op.opdef is ops.SUB:
        value = _integer(op.operands[1])
        if value is not None:
            return op.operands[0], value if op.opdef is ops.ADD else -value
    return op, 0


def _add(op: Op, rewriter: Rewriter) -> Op:
    lhs, rhs = op.operands
    value = _integer(rhs)
    if value is not None:
        base, offset = _offset(lhs)
        if value == 0 or base is not lhs:
            return _sum(base, offset + value, op, rewriter)
    elif _integer(lhs) is not None:
        return rewriter.emit(ops.ADD, rhs, lhs, like=op)
    elif lhs.opdef is ops.SUB and lhs.operands[1] is rhs:
        return lhs.operands[0]  # (x - y) + y
    elif rhs.opdef is ops.SUB and rhs.operands[1] is lhs:
        return rhs.operands[0]  # y + (x - y)
    return op


def _sub(op: Op, rewriter: Rewriter) -> Op:
    lhs, rhs = op.operands
    value = _integer(rhs)
    if lhs is rhs:
        return rewriter.const(scalar_type(op), 0, op)
    if value is not None:
        base, offset = _offset(lhs)
        if value == 0 or base is not lhs:
            return _sum(base, offset - value, op, rewriter)
    if lhs.opdef is ops.ADD and rhs in lhs.operands:
        return lhs.operands[1 - lhs.operands.index(rhs)]  # (x + y) - y
    left, right = _offset(lhs), _offset(rhs)
    if left[0] is right[0]:
        return rewriter.const(scalar_type(op), _wrapped(scalar_type(op), left[1] - right[1]), op)
    return op


def _mul(op: Op, rewriter: Rewriter) -> Op:
    lhs, rhs = op.operands
    value = _integer(rhs)
    if value is None:
        return op if _integer(lhs) is None else rewriter.emit(ops.MUL, rhs, lhs, like=op)
    if value in (0, 1):
        return lhs if value else rhs
    if lhs.opdef is ops.MUL:
        inner = _integer(lhs.operands[1])
        if inner is not None:
            product = _wrapped(scalar_type(op), inner * value)
            factor = rewriter.const(scalar_type(op), product, op)
            return rewriter.emit(ops.MUL, lhs.operands[0], factor, like=op)
    return op


def _divide(op: Op, rewriter: Rewriter) -> Op:
    value = _integer(op.operands[1])
    if value in (0, 1):
        return op.operands[0] if value else rewriter.const(scalar_type(op), 0, op)
    return op


def _remainder(op: Op, rewriter: Rewriter) -> Op:
    value = _integer(op.operands[1])
    return rewriter.const(scalar_type(op), 0, op) if value in (0, 1) else op


def _shift(op: Op, rewriter: Rewriter) -> Op:
    return op.operands[0] if _integer(op.operands[1]) == 0 else op


def _extremum(op: Op, rewriter: Rewriter) -> Op:
    lhs, rhs = op.operands
    return lhs if lhs is rhs else op


def _negate(op: Op, rewriter: Rewriter) -> Op:
    inner = op.operands[0]
    if inner.opdef is ops.NEG:
        return inner.operands[0]
    if inner.opdef is ops.SUB:
        return rewriter.emit(ops.SUB, inner.operands[1], inner.operands[0], like=op)
    return op


def _on_integers(rule: Rule) -> Rule:
    def checked(op: Op, rewriter: Rewriter) -> Op | None:
        return rule(op, rewriter) if op.type in INTEGERS else op

    return checked


INTEGER_RULES: Mapping[OpDef, Rule] = {
    opdef: _on_integers(rule)
    for opdef, rule in {
        ops.ADD: _add,
        ops.SUB: _sub,
        ops.MUL: _mul,
        ops.FLOOR_DIV: _divide,
        ops.TRUNC_DIV: _divide,
        ops.FLOOR_MOD: _remainder,
        ops.TRUNC_REM: _remainder,
        ops.SHL: _shift,
        ops.SHR: _shift,
        ops.MIN: _extremum,
        ops.MAX: _extremum,
        ops.NEG: _negate,
    }.items()
}
