"""Comparisons: by mathematical value wherever two types of one kind meet.

A literal that the other type cannot hold still compares as the number it is.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from cubepy.errors import CubeTypeError
from cubepy.frontend.coercion import (
    Operand,
    convert,
    is_scalar,
    literal,
    typed,
    unify,
)
from cubepy.frontend.evaluation import evaluate_in_python
from cubepy.frontend.frame import Frame
from cubepy.frontend.operators import refuse_other_kinds
from cubepy.frontend.promotion import literal_fits, promote
from cubepy.frontend.retyping import retype
from cubepy.frontend.type_limits import warn_of_limits
from cubepy.frontend.values import POISON, Known, Poison, TupleValue, Value, is_number
from cubepy.ir import BOOL, F32, I64, U64, Op, OpDef, Scalar, ops, scalar_type

__all__ = ["compare", "compares_groups"]

_PYTHON: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ROWS: Mapping[type[ast.AST], OpDef] = {
    ast.Eq: ops.EQ,
    ast.NotEq: ops.NE,
    ast.Lt: ops.LT,
    ast.LtE: ops.LE,
    ast.Gt: ops.GT,
    ast.GtE: ops.GE,
}
_MIRRORED: Mapping[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


Comparer = Callable[[Frame, ast.cmpop, Operand, Operand, ast.AST], Value | None]
_COMPARERS: list[Comparer] = []


def compares_groups(comparer: Comparer) -> Comparer:
    """Say which function compares groups of values; it gives None for those it does not know."""
    _COMPARERS.append(comparer)
    return comparer


def compare(
    frame: Frame, operation: ast.cmpop, left: Operand, right: Operand, at: ast.AST
) -> Value:
    """One comparison, by mathematical value where two types of one kind meet."""
    if isinstance(left.value, Poison) or isinstance(right.value, Poison):
        return POISON
    kind = type(operation)
    if kind in (ast.Is, ast.IsNot, ast.In, ast.NotIn):
        return _identity_or_membership(frame, kind, left, right, at)
    if isinstance(left.value, Known) and isinstance(right.value, Known):
        return evaluate_in_python(frame, _PYTHON[kind], at, left.value.value, right.value.value)
    for comparer in _COMPARERS:
        found = comparer(frame, operation, left, right, at)
        if found is not None:
            return found
    if isinstance(left.value, TupleValue) or isinstance(right.value, TupleValue):
        raise frame.error(CubeTypeError, "cannot compare tuples", at, "compare their elements")
    refuse_other_kinds(frame, kind, left, right, at)
    if isinstance(left.value, Known):
        return _compare_literal(frame, _MIRRORED[kind], right, left, at, mirrored=True)
    if isinstance(right.value, Known):
        return _compare_literal(frame, kind, left, right, at)
    return _compare_typed(frame, kind, left, right, at)


def _identity_or_membership(
    frame: Frame, kind: type[ast.AST], left: Operand, right: Operand, at: ast.AST
) -> Value:
    a, b = _all_known(left.value), _all_known(right.value)
    if kind in (ast.Is, ast.IsNot):
        same = a is b or (isinstance(a, Known) and isinstance(b, Known) and a.value is b.value)
        if (is_scalar(a) or is_scalar(b)) and all(is_scalar(x) or is_number(x) for x in (a, b)):
            raise frame.error(CubeTypeError, "`is` on run-time values", at, "write ==")
        return Known(same == (kind is ast.Is))
    if isinstance(a, Known) and isinstance(b, Known):
        found = evaluate_in_python(frame, operator.contains, at, b.value, a.value)
        return found if kind is ast.In else Known(not found.value)
    raise frame.error(
        CubeTypeError, "`in` needs values known while compiling", at, "compare with == and or"
    )


def _all_known(value: Value) -> Value:
    """A tuple of things known while compiling as such a thing; other values as they are."""
    if not isinstance(value, TupleValue) or value.maker is not None:
        return value
    items = [_all_known(item) for item in value.items]
    known = [item.value for item in items if isinstance(item, Known)]
    return Known(tuple(known)) if len(known) == len(items) else value


def _compare_literal(
    frame: Frame,
    kind: type[ast.AST],
    operand: Operand,
    number: Operand,
    at: ast.AST,
    *,
    mirrored: bool = False,
) -> Value:
    """`mirrored`: the number stands on the left."""
    op = typed(frame, operand.value, operand.node)
    type = scalar_type(op)
    assert isinstance(number.value, Known)
    value = number.value.value
    if isinstance(value, bool) or type == BOOL:
        order = slice(None, None, -1 if mirrored else 1)
        lhs, rhs = unify(frame, [operand, number][order], at, "compare")[order]
        return _emit_comparison(frame, kind, lhs, rhs, at)
    if type.is_float:
        rhs = literal(frame, value, type, number.node)
        return frame.emit(_ROWS[kind], op, rhs, at=at)
    if isinstance(value, float) and op in frame.soft and retype(frame, op, F32):
        return frame.emit(
            _ROWS[kind], convert(frame, op, F32, at), frame.const(F32, value, at), at=at
        )
    if isinstance(value, float):
        whole = _whole_bound(kind, value)
        if isinstance(whole, bool):
            return frame.const(BOOL, whole, at)
        kind, value = whole
    decided = _decided(kind, value, type)
    if decided is not None:
        warn_of_limits(frame, operand.node, type, value, at, holds=decided)
    if literal_fits(value, type):
        return frame.emit(_ROWS[kind], op, literal(frame, value, type, number.node), at=at)
    return frame.const(BOOL, _outside(kind, above=value > type.maximum), at)


def _decided(kind: type[ast.AST], value: int, type: Scalar) -> bool | None:
    """The answer of a comparison with a literal if it is the same for every value of a type."""
    if not type.minimum <= value <= type.maximum:
        return _outside(kind, above=value > type.maximum)
    never, ever = (ast.Lt, ast.GtE) if value == type.minimum else (ast.Gt, ast.LtE)
    if value not in (type.minimum, type.maximum) or kind not in (never, ever):
        return None
    return kind is ever


def _whole_bound(kind: type[ast.AST], value: float) -> bool | tuple[type[ast.AST], int]:
    """An integer compared with a float literal, as a comparison with an integer or an answer."""
    if math.isnan(value):
        return kind is ast.NotEq
    if math.isinf(value):
        return _outside(kind, above=value > 0)
    if value == math.floor(value):
        return kind, int(value)
    if kind in (ast.Eq, ast.NotEq):
        return kind is ast.NotEq
    if kind in (ast.Lt, ast.LtE):
        return ast.LtE, math.floor(value)
    return ast.GtE, math.ceil(value)


def _outside(kind: type[ast.AST], *, above: bool) -> bool:
    """The answer where the literal lies outside the type's range."""
    if kind in (ast.Eq, ast.NotEq):
        return kind is ast.NotEq
    return (kind in (ast.Lt, ast.LtE)) == above


def _compare_typed(
    frame: Frame, kind: type[ast.AST], left: Operand, right: Operand, at: ast.AST
) -> Value:
    a, b = typed(frame, left.value, left.node), typed(frame, right.value, right.node)
    first, second = scalar_type(a), scalar_type(b)
    if first.is_integer and second.is_integer:
        if U64 in (first, second) and first.is_signed != second.is_signed:
            return _compare_with_u64(frame, kind, a, b, at)
        common = promote(first, second) or I64
        lhs, rhs = convert(frame, a, common, at), convert(frame, b, common, at)
        return frame.emit(_ROWS[kind], lhs, rhs, at=at)
    if first.is_float and second.is_float and promote(first, second) is None:
        lhs, rhs = convert(frame, a, F32, at), convert(frame, b, F32, at)
        return frame.emit(_ROWS[kind], lhs, rhs, at=at)
    lhs, rhs = unify(frame, [left, right], at, "compare")
    return _emit_comparison(frame, kind, lhs, rhs, at)


def _emit_comparison(frame: Frame, kind: type[ast.AST], lhs: Op, rhs: Op, at: ast.AST) -> Value:
    if lhs.type == BOOL and kind not in (ast.Eq, ast.NotEq):
        raise frame.error(CubeTypeError, "cannot order bools", at, "convert: i32(…)")
    return frame.emit(_ROWS[kind], lhs, rhs, at=at)


def _compare_with_u64(frame: Frame, kind: type[ast.AST], a: Op, b: Op, at: ast.AST) -> Value:
    """Signed with u64: a negative number is below every unsigned one."""
    if a.type == U64:
        return _compare_with_u64(frame, _MIRRORED[kind], b, a, at)
    wide = convert(frame, a, I64, at)
    negative = frame.emit(ops.LT, wide, frame.const(I64, 0, at), at=at)
    plain = frame.emit(_ROWS[kind], convert(frame, wide, U64, at), b, at=at)
    if kind in (ast.Lt, ast.LtE, ast.NotEq):
        return frame.emit(ops.BIT_OR, negative, plain, at=at)
    return frame.emit(ops.BIT_AND, frame.emit(ops.BIT_NOT, negative, at=at), plain, at=at)
