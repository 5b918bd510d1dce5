"""Binary and unary operators on values of a kernel.

Numbers known while compiling are left to Python; everything else becomes an op of the table after
its operands have met in one type.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from cubepy.errors import CubeSyntaxError, CubeTypeError, CubeValueError
from cubepy.frontend.coercion import Operand, literal, refuse_no_result, typed, unify
from cubepy.frontend.descriptions import describe, element_of_value, snippet
from cubepy.frontend.evaluation import evaluate_in_python
from cubepy.frontend.frame import Frame
from cubepy.frontend.promotion import literal_fits
from cubepy.frontend.values import (
    POISON,
    Known,
    ListValue,
    Poison,
    Sliced,
    StructValue,
    TupleValue,
    Value,
    Vectorized,
    as_array,
    is_number,
)
from cubepy.ir import BOOL, I32, INDEX, Op, OpDef, Scalar, ops, scalar_type

__all__ = [
    "Operation",
    "binary",
    "overloads_operators",
    "refuse_other_kinds",
    "unary",
]

_PYTHON: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: Mapping[type[ast.AST], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_ROWS: Mapping[type[ast.AST], OpDef] = {
    ast.Add: ops.ADD,
    ast.Sub: ops.SUB,
    ast.Mult: ops.MUL,
    ast.Div: ops.DIV,
    ast.FloorDiv: ops.FLOOR_DIV,
    ast.Mod: ops.FLOOR_MOD,
    ast.BitAnd: ops.BIT_AND,
    ast.BitOr: ops.BIT_OR,
    ast.BitXor: ops.BIT_XOR,
    ast.LShift: ops.SHL,
    ast.RShift: ops.SHR,
}
_VERBS: Mapping[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "divide",
    ast.Mod: "take the remainder of",
    ast.Pow: "take the power of",
    ast.BitAnd: "combine",
    ast.BitOr: "combine",
    ast.BitXor: "combine",
    ast.LShift: "shift",
    ast.RShift: "shift",
    **dict.fromkeys((ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE), "compare"),
}
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)

Operation = ast.operator | ast.unaryop
Overload = Callable[[Frame, Operation, Operand, Operand | None, ast.AST], Value | None]
_OVERLOADS: list[Overload] = []


def overloads_operators(overload: Overload) -> Overload:
    """Say which function applies operators to values of its own kind, and gives None for others.

    There is no second operand for an operator with one.
    """
    _OVERLOADS.append(overload)
    return overload


def binary(
    frame: Frame, operation: ast.operator, left: Operand, right: Operand, at: ast.AST
) -> Value:
    """`left operation right`."""
    if isinstance(left.value, Poison) or isinstance(right.value, Poison):
        return POISON
    kind = type(operation)
    if kind is ast.MatMult:
        raise frame.error(
            CubeSyntaxError, "kernels have no matrix product `@`", at,
            "a kernel computes one element: add the products in a loop",
        )  # fmt: skip
    if isinstance(left.value, Known) and isinstance(right.value, Known):
        for operand in (left, right):
            refuse_no_result(frame, operand)
        if left.value.value is None or right.value.value is None:
            refuse_other_kinds(frame, kind, left, right, at)
        return evaluate_in_python(frame, _PYTHON[kind], at, left.value.value, right.value.value)
    for overload in _OVERLOADS:
        found = overload(frame, operation, left, right, at)
        if found is not None:
            return found
    tuples = _on_tuples(kind, left.value, right.value)
    if tuples is not None:
        return tuples
    refuse_other_kinds(frame, kind, left, right, at)
    if kind is ast.Pow:
        return _power(frame, left, right, at)
    if kind in (ast.LShift, ast.RShift):
        return _shift(frame, kind, left, right, at)
    if kind in _BITWISE:
        return _bitwise(frame, kind, left, right, at)
    return _arithmetic(frame, kind, left, right, at)


def _on_tuples(kind: type[ast.AST], left: Value, right: Value) -> Value | None:
    """Concatenation, the one operator tuples have."""
    if kind is not ast.Add:
        return None
    pairs = [_items(value) for value in (left, right)]
    if pairs[0] is None or pairs[1] is None:
        return None
    return TupleValue((*pairs[0], *pairs[1]))


def _items(value: Value) -> tuple[Value, ...] | None:
    if isinstance(value, TupleValue):
        return value.items
    if isinstance(value, Known) and isinstance(value.value, tuple):
        return tuple(Known(item) for item in value.value)
    return None


def refuse_other_kinds(
    frame: Frame, kind: type[ast.AST], left: Operand, right: Operand, at: ast.AST
) -> None:
    """Raise unless both operands are numbers or bools."""
    for operand in (left, right):
        if not is_number(operand.value) and not (
            isinstance(operand.value, Op) and isinstance(operand.value.type, Scalar)
        ):
            refuse_no_result(frame, operand)
            raise frame.error(
                CubeTypeError,
                f"cannot {_VERBS.get(kind, 'compute with')} {describe(left.value)} and "
                f"{describe(right.value)}",
                at,
                _how_to_use(operand),
            )


def _how_to_use(operand: Operand) -> str:
    if isinstance(operand.value, StructValue):
        return "combine its fields, or give its class a method for the operator"
    value = operand.value
    if isinstance(value, Known) and value.value is None:
        return "a function without `return` gives None"
    if (
        isinstance(value, Sliced)
        and all(axis.whole for axis in value.axes)
        and any(axis.index is not None for axis in value.axes)
    ):
        return f"give one subscript an axis: {element_of_value(value, operand.node)}"
    if as_array(value) is not None or isinstance(value, Vectorized):
        return f"a kernel computes one element: {element_of_value(value, operand.node)}"
    if isinstance(value, ListValue):
        return "for a small array of each unit: cb.local_array(f32, 4, fill=0.0)"
    return "kernels compute with numbers and bools"


def _arithmetic(
    frame: Frame, kind: type[ast.AST], left: Operand, right: Operand, at: ast.AST
) -> Value:
    lhs, rhs = unify(frame, [left, right], at, _VERBS[kind])
    common = scalar_type(lhs)
    if common == BOOL:
        raise frame.error(
            CubeTypeError,
            f"cannot {_VERBS[kind]} bools",
            at,
            f"convert: i32({snippet(left.node)}), or use &, | and ^",
        )
    if kind is ast.Div and common.is_integer:
        raise frame.error(
            CubeTypeError,
            f"`/` on integers ({common})",
            at,
            f"write {_operand(left)} // {_operand(right)} for the floor, or convert: "
            f"{_as_f32(left)} / {_as_f32(right)}",
        )
    if frame.session.contract and common.is_float and kind in (ast.Add, ast.Sub):
        fused = _fused(frame, kind, (left, lhs), (right, rhs), at)
        if fused is not None:
            return fused
    return frame.emit(_ROWS[kind], lhs, rhs, at=at)


def _fused(
    frame: Frame,
    kind: type[ast.AST],
    left: tuple[Operand, Op],
    right: tuple[Operand, Op],
    at: ast.AST,
) -> Value | None:
    """A sum or difference with a product in it as one rounding, by how the source is written."""
    (left_operand, lhs), (right_operand, rhs) = left, right
    minus = kind is ast.Sub
    if _is_product(left_operand, lhs):
        a, b = lhs.operands
        addend = frame.emit(ops.NEG, rhs, at=at) if minus else rhs
        return frame.emit(ops.FMA, a, b, addend, at=at)
    if _is_product(right_operand, rhs):
        a, b = rhs.operands
        return frame.emit(ops.FMA, frame.emit(ops.NEG, a, at=at) if minus else a, b, lhs, at=at)
    return None


def _is_product(operand: Operand, op: Op) -> bool:
    written = isinstance(operand.node, ast.BinOp) and isinstance(operand.node.op, ast.Mult)
    return written and op.opdef is ops.MUL


def _operand(operand: Operand) -> str:
    """An operand in a suggestion, in parentheses where they are needed."""
    text = snippet(operand.node)
    composed = isinstance(operand.node, ast.BinOp | ast.IfExp | ast.BoolOp | ast.Compare)
    return f"({text})" if composed else text


def _as_f32(operand: Operand) -> str:
    text = snippet(operand.node)
    return text if isinstance(operand.value, Known) else f"f32({text})"


def _bitwise(
    frame: Frame, kind: type[ast.AST], left: Operand, right: Operand, at: ast.AST
) -> Value:
    left, right = _complemented(left, right), _complemented(right, left)
    lhs, rhs = unify(frame, [left, right], at, _VERBS[kind])
    if scalar_type(lhs).is_float:
        raise frame.error(
            CubeTypeError,
            f"`{_ROWS[kind].python}` on floats ({lhs.type})",
            at,
            f"take the bits: cb.bitcast(u{scalar_type(lhs).bits}, {snippet(left.node)})",
        )
    return frame.emit(_ROWS[kind], lhs, rhs, at=at)


def _complemented(operand: Operand, other: Operand) -> Operand:
    """A negative literal beside an unsigned operand stands for its two's complement."""
    value, type = operand.value, getattr(other.value, "type", None)
    if not isinstance(value, Known) or not isinstance(type, Scalar) or type.is_signed:
        return operand
    number = value.value
    if isinstance(number, bool) or not isinstance(number, int) or not type.is_integer:
        return operand
    if -(1 << type.bits) <= number < 0:
        return Operand(Known(number + (1 << type.bits)), operand.node)
    return operand


def _shift(frame: Frame, kind: type[ast.AST], left: Operand, right: Operand, at: ast.AST) -> Value:
    if isinstance(left.value, Known):
        count = typed(frame, right.value, right.node)
        type = scalar_type(count)
        value = literal(frame, left.value.value, type if type.is_integer else I32, left.node)
    else:
        value = typed(frame, left.value, left.node)
        count = _count(frame, right, value)
    for operand, op in ((left, value), (right, count)):
        if not scalar_type(op).is_integer:
            raise frame.error(
                CubeTypeError,
                f"`{_ROWS[kind].python}` takes integers, not {describe(op)}",
                operand.node,
                f"convert: i32({snippet(operand.node)})",
            )
    return frame.emit(_ROWS[kind], value, count, at=at)


def _count(frame: Frame, operand: Operand, value: Op) -> Op:
    """The count of a shift: any integer; a literal need not fit the value's type."""
    if isinstance(operand.value, Known) and is_number(operand.value):
        number = operand.value.value
        type = scalar_type(value)
        fits = type.is_integer and literal_fits(number, type)
        return literal(frame, number, type if fits else INDEX, operand.node)
    return typed(frame, operand.value, operand.node)


def _power(frame: Frame, left: Operand, right: Operand, at: ast.AST) -> Value:
    base_type = getattr(left.value, "type", None)
    exponent = right.value
    if isinstance(exponent, Known) and isinstance(exponent.value, int) and base_type is not None:
        assert isinstance(left.value, Op)
        if isinstance(base_type, Scalar) and base_type.is_float:
            return _float_power(frame, left.value, exponent.value, at)
        if isinstance(base_type, Scalar) and base_type.is_integer:
            return _integer_power(frame, left, right, at)
    exponent_type = getattr(exponent, "type", None)
    integers = [type for type in (base_type, exponent_type) if type is not None]
    literal_base = isinstance(left.value, Known) and isinstance(left.value.value, float)
    float_power = isinstance(exponent, Known) and isinstance(exponent.value, float)
    whole = all(isinstance(type, Scalar) and type.is_integer for type in integers)
    if whole and not literal_base and not float_power:
        return _integer_power(frame, left, right, at)
    base, power = unify(frame, [left, right], at, _VERBS[ast.Pow])
    if not scalar_type(base).is_float:
        raise frame.error(
            CubeTypeError, f"`**` on {base.type}", at, f"convert: f32({snippet(left.node)})"
        )
    return frame.emit(ops.POW, base, power, at=at)


def _integer_power(frame: Frame, left: Operand, right: Operand, at: ast.AST) -> Value:
    exponent = right.value
    if isinstance(exponent, Known):
        if exponent.value < 0:
            raise frame.error(
                CubeValueError,
                "an integer to a negative power is no integer",
                at,
                f"convert the base: f32({snippet(left.node)})",
            )
        base = typed(frame, left.value, left.node)
        power = literal(frame, exponent.value, INDEX, right.node)
    else:
        power = typed(frame, exponent, right.node)
        base = (
            literal(frame, left.value.value, scalar_type(power), left.node)
            if isinstance(left.value, Known)
            else typed(frame, left.value, left.node)
        )
    return frame.emit(ops.POW_INTEGER, base, power, at=at)


def _float_power(frame: Frame, base: Op, exponent: int, at: ast.AST) -> Value:
    """Small whole powers as products, which are at least as exact as `pow`."""
    type = scalar_type(base)
    if exponent == 0:
        return frame.const(type, 1.0, at)
    if exponent == -1:
        return frame.emit(ops.DIV, frame.const(type, 1.0, at), base, at=at)
    if exponent == 1:
        return base
    if exponent in (2, 3, 4):
        square = frame.emit(ops.MUL, base, base, at=at)
        if exponent == 2:
            return square
        return frame.emit(ops.MUL, square, base if exponent == 3 else square, at=at)
    return frame.emit(ops.POW, base, literal(frame, exponent, type, at), at=at)


# ── unary ────────────────────────────────────────────────────────────────────────────────────────


def unary(frame: Frame, operation: ast.unaryop, operand: Operand, at: ast.AST) -> Value:
    """`-x`, `+x`, `~x`; `not` is control flow and stands elsewhere."""
    value = operand.value
    if isinstance(value, Poison):
        return POISON
    for overload in _OVERLOADS:
        found = overload(frame, operation, operand, None, at)
        if found is not None:
            return found
    if isinstance(value, Known):
        if isinstance(operation, ast.Invert) and isinstance(value.value, bool):
            return Known(not value.value)
        return evaluate_in_python(frame, _UNARY[type(operation)], at, value.value)
    op = typed(frame, value, operand.node)
    type_ = scalar_type(op)
    if isinstance(operation, ast.Invert):
        if type_.is_float:
            raise frame.error(
                CubeTypeError,
                f"`~` on {type_}",
                at,
                f"take the bits: cb.bitcast(u{type_.bits}, {snippet(operand.node)})",
            )
        return frame.emit(ops.BIT_NOT, op, at=at)
    if type_ == BOOL:
        raise frame.error(
            CubeTypeError,
            "cannot negate a bool",
            at,
            f"write not {snippet(operand.node)}, or convert: i32({snippet(operand.node)})",
        )
    return op if isinstance(operation, ast.UAdd) else frame.emit(ops.NEG, op, at=at)
