"""Identities of bits, comparisons, choice and casts, as rules; right for NaN and signed zeros."""

from __future__ import annotations

from collections.abc import Mapping

from cubepy.ir import BOOL, FLOATS, Op, OpDef, Rewriter, Rule, Scalar, ops, scalar_type
from cubepy.passes.fold_constants import constant

__all__ = ["LOGIC_RULES", "opposite"]

# not (a < b) is a >= b for integers only: both are false for NaN
_OPPOSITES = {ops.LT: ops.GE, ops.GE: ops.LT, ops.GT: ops.LE, ops.LE: ops.GT}
_EXACT_OPPOSITES = {ops.EQ: ops.NE, ops.NE: ops.EQ}
_MIRRORED = {
    ops.LT: ops.GT,
    ops.GT: ops.LT,
    ops.LE: ops.GE,
    ops.GE: ops.LE,
    ops.EQ: ops.EQ,
    ops.NE: ops.NE,
}
_DUALS = {ops.BIT_AND: ops.BIT_OR, ops.BIT_OR: ops.BIT_AND}
_TRUE_OF_EQUALS = frozenset({ops.EQ, ops.LE, ops.GE})


def opposite(op: Op) -> OpDef | None:
    """The comparison that holds exactly where this one does not."""
    if op.opdef in _EXACT_OPPOSITES:
        return _EXACT_OPPOSITES[op.opdef]
    if op.opdef in _OPPOSITES and op.operands[0].type not in FLOATS:
        return _OPPOSITES[op.opdef]
    return None


def _all_ones(type: Scalar) -> int:
    return -1 if type.is_signed else type.maximum if type is not BOOL else 1


def _not(op: Op, rewriter: Rewriter) -> Op:
    inner = op.operands[0]
    if inner.opdef is ops.BIT_NOT:
        return inner.operands[0]
    if op.type is not BOOL:
        return op
    reverse = opposite(inner)
    if reverse is not None:
        return rewriter.emit(reverse, *inner.operands, like=op, attrs=inner.attrs)
    if inner.opdef in _DUALS and all(map(_has_opposite, inner.operands)):
        halves = [rewriter.emit(ops.BIT_NOT, half, like=op) for half in inner.operands]
        return rewriter.emit(_DUALS[inner.opdef], *halves, like=op)
    return op


def _has_opposite(op: Op) -> bool:
    """Whether the opposite of a bool costs nothing."""
    both = op.opdef in _DUALS and all(map(_has_opposite, op.operands))
    return both or op.opdef is ops.BIT_NOT or opposite(op) is not None


def _constants_right(op: Op, rewriter: Rewriter) -> Op:
    lhs, rhs = op.operands
    if constant(lhs) is not None and constant(rhs) is None:
        return rewriter.emit(op.opdef, rhs, lhs, like=op)
    return op


def _and(op: Op, rewriter: Rewriter) -> Op:
    lhs, rhs = op.operands
    if lhs is rhs:
        return lhs
    value = constant(rhs)
    if value == 0:
        return rhs
    if value is not None and value == _all_ones(scalar_type(op)):
        return lhs
    return _constants_right(op, rewriter)


def _or(op: Op, rewriter: Rewriter) -> Op:
    lhs, rhs = op.operands
    if lhs is rhs:
        return lhs
    value = constant(rhs)
    if value == 0:
        return lhs
    if value is not None and value == _all_ones(scalar_type(op)):
        return rhs
    return _constants_right(op, rewriter)


def _xor(op: Op, rewriter: Rewriter) -> Op:
    lhs, rhs = op.operands
    if lhs is rhs:
        return rewriter.const(scalar_type(op), 0, op)
    value = constant(rhs)
    if value == 0:
        return lhs
    if value is not None and value == _all_ones(scalar_type(op)):
        return rewriter.emit(ops.BIT_NOT, lhs, like=op)
    return _constants_right(op, rewriter)


def _compare(op: Op, rewriter: Rewriter) -> Op:
    lhs, rhs = op.operands
    if lhs is rhs and lhs.type not in FLOATS:
        return rewriter.const(BOOL, op.opdef in _TRUE_OF_EQUALS, op)
    if constant(lhs) is not None and constant(rhs) is None:
        return rewriter.emit(_MIRRORED[op.opdef], rhs, lhs, like=op, attrs=op.attrs)
    if lhs.type is BOOL and constant(rhs) is not None:
        same = bool(constant(rhs)) == (op.opdef is ops.EQ)
        return lhs if same else rewriter.emit(ops.BIT_NOT, lhs, like=op)
    return op


def _select(op: Op, rewriter: Rewriter) -> Op:
    condition, a, b = op.operands
    value = constant(condition)
    if value is not None:
        return a if value else b
    if a is b:
        return a
    if condition.opdef is ops.BIT_NOT:
        return rewriter.emit(ops.SELECT, condition.operands[0], b, a, like=op)
    return _select_bool(op, rewriter) if op.type is BOOL else op


def _select_bool(op: Op, rewriter: Rewriter) -> Op:
    condition, a, b = op.operands
    if constant(a) is not None and constant(a) == constant(b):
        return a
    if constant(a) is not None and constant(b) is not None:
        return condition if constant(a) else rewriter.emit(ops.BIT_NOT, condition, like=op)
    if a is condition or constant(a):
        return rewriter.emit(ops.BIT_OR, condition, b, like=op)
    if b is condition or constant(b) == 0:
        return rewriter.emit(ops.BIT_AND, condition, a, like=op)
    if constant(a) == 0 or constant(b):
        reverse = rewriter.emit(ops.BIT_NOT, condition, like=op)
        if constant(b):
            return rewriter.emit(ops.BIT_OR, reverse, a, like=op)
        return rewriter.emit(ops.BIT_AND, reverse, b, like=op)
    return op


def _cast(op: Op, rewriter: Rewriter) -> Op:
    inner = op.operands[0]
    if inner.type == op.type:
        return inner
    widened = inner.opdef is ops.CAST and _holds(scalar_type(inner), scalar_type(inner.operands[0]))
    if widened:  # a cast of what an earlier cast widened without loss
        return rewriter.emit(ops.CAST, inner.operands[0], like=op, attrs={"to": scalar_type(op)})
    return op


def _holds(wide: Scalar, narrow: Scalar) -> bool:
    """Whether every integer of `narrow` is one of `wide`."""
    if not (wide.is_integer and narrow.is_integer):
        return False
    return wide.minimum <= narrow.minimum and narrow.maximum <= wide.maximum


def _bitcast(op: Op, rewriter: Rewriter) -> Op:
    inner = op.operands[0]
    if inner.opdef is ops.BITCAST:
        return rewriter.emit(ops.BITCAST, inner.operands[0], like=op, attrs={"to": scalar_type(op)})
    return inner if inner.type == op.type else op


LOGIC_RULES: Mapping[OpDef, Rule] = {
    ops.BIT_NOT: _not,
    ops.BIT_AND: _and,
    ops.BIT_OR: _or,
    ops.BIT_XOR: _xor,
    **dict.fromkeys((ops.EQ, ops.NE, ops.LT, ops.LE, ops.GT, ops.GE), _compare),
    ops.SELECT: _select,
    ops.CAST: _cast,
    ops.BITCAST: _bitcast,
}
