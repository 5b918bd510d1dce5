"""Functions of cubepy that compute: rows of the op table, conversions, what is spelled in ops.

A function whose meaning is one op of the table is lowered from its row; the others are spelled out
here in terms of ops.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache

from cubepy.errors import CubeTypeError
from cubepy.frontend.branches import selected
from cubepy.frontend.calls import Call, cast, lowers_intrinsic, required
from cubepy.frontend.choices import literals_of, note_choice
from cubepy.frontend.coercion import (
    Operand,
    as_condition,
    as_index,
    convert,
    literal,
    typed,
    unify,
)
from cubepy.frontend.comptime import known_value
from cubepy.frontend.descriptions import describe, snippet
from cubepy.frontend.frame import Frame
from cubepy.frontend.operators import binary
from cubepy.frontend.retyping import retype
from cubepy.frontend.scalars import scalar_of
from cubepy.frontend.values import (
    Known,
    TupleValue,
    Value,
    is_number,
)
from cubepy.ir import (
    BOOL,
    F32,
    I32,
    INDEX,
    SCALARS,
    Op,
    OpDef,
    Scalar,
    Trait,
    TypeRuleError,
    ops,
    scalar_type,
)

__all__ = ["apply_row", "elementwise_rows", "type_argument"]

_SPECIAL = frozenset(
    {"select", "cast", "bitcast", "shared", "local_array", "len", "abs", "min", "max", "round"}
    | {"rotl", "rotr", "ldexp"}
)


# An exponent that takes any number of any type to 0 or infinity.
_FARTHEST = 1 << 13


def elementwise_rows() -> list[OpDef]:
    """Rows that are plain functions of one to three numbers."""
    return [
        row
        for name, row in ops.BY_PYTHON.items()
        if name.isidentifier() and row.has(Trait.PURE) and row.operands and name not in _SPECIAL
    ]


@cache
def _takes(row: OpDef, type: Scalar) -> bool:
    """Whether a row's type rule takes operands of a type."""
    try:
        row.rule((type,) * len(row.operands), {})
    except TypeRuleError:
        return False
    return True


def _elementwise(row: OpDef) -> Callable[[Frame, Call], Value]:
    def run(frame: Frame, call: Call) -> Value:
        operands = required(frame, call, *row.operands)
        return apply_row(frame, row, operands, call.node, call.name)

    return run


def apply_row(frame: Frame, row: OpDef, operands: list[Operand], at: ast.AST, name: str) -> Value:
    """One op on operands brought to one type."""
    if not operands:
        raise frame.error(CubeTypeError, f"{name} is called without values", at, f"{name}(a, b)")
    for operand in operands:
        if not is_number(operand.value):
            typed(frame, operand.value, operand.node)
    made = unify(frame, operands, at, f"take {row.python} of")
    type = scalar_type(made[0])
    if not _takes(row, type):
        made = _floats(frame, row, operands, made, at, name)
    return frame.emit(row, *made, at=at)


def _floats(
    frame: Frame, row: OpDef, operands: list[Operand], made: list[Op], at: ast.AST, name: str
) -> list[Op]:
    """Integers for a function of floats: literals and small ones are converted, others an error."""
    type = scalar_type(made[0])
    weak = all(
        isinstance(operand.value, Known)
        or (isinstance(operand.value, Op) and operand.value in frame.soft)
        for operand in operands
    )
    if _takes(row, F32) and type.is_integer and (type.bits <= 16 or weak):
        for operand in operands:
            if isinstance(operand.value, Op):
                retype(frame, operand.value, F32)
        return [convert(frame, op, F32, at) for op in made]
    takes = [name for name, kind in (("floats", F32), ("integers", I32)) if _takes(row, kind)]
    family = takes[0] if len(takes) == 1 else "numbers"
    wanted = "f32" if family == "floats" else "i32"
    raise frame.error(
        CubeTypeError,
        f"{name} takes {family}, not {type}",
        at,
        f"convert: {name}({wanted}({snippet(operands[0].node)}))",
    )


for _row in elementwise_rows():
    lowers_intrinsic(_row.python)(_elementwise(_row))

lowers_intrinsic("ln")(_elementwise(ops.LOG))


# ── conversion and choice ────────────────────────────────────────────────────────────────────────


def type_argument(frame: Frame, operand: Operand) -> Scalar:
    """The type that an argument names."""
    value = operand.value
    scalar = scalar_of(value.value) if isinstance(value, Known) else None
    if scalar is None:
        raise frame.error(
            CubeTypeError,
            f"expected a type, got {describe(value)}",
            operand.node,
            "write a scalar type, for example cb.f32",
        )
    return scalar


@lowers_intrinsic("cast")
def lower_cast(frame: Frame, call: Call) -> Value:
    """`cb.cast(T, x)`."""
    dtype, operand = required(frame, call, "dtype", "value")
    return cast(frame, type_argument(frame, dtype), operand, call.node)


@lowers_intrinsic("bitcast")
def lower_bitcast(frame: Frame, call: Call) -> Value:
    """`cb.bitcast(T, x)`; a literal has the width of T."""
    dtype, operand = required(frame, call, "dtype", "value")
    target = type_argument(frame, dtype)
    value = operand.value
    if isinstance(value, Known) and is_number(value) and not isinstance(value.value, bool):
        family = "f" if isinstance(value.value, float) else "i" if value.value < 0 else "u"
        source = scalar_of(_by_name(f"{family}{target.bits}"))
        if source is None:
            raise frame.error(
                CubeTypeError, f"no float has {target.bits} bits", operand.node,
                f"give the bits as an integer: cb.bitcast({target}, 0)",
            )  # fmt: skip
        op = literal(frame, value.value, source, operand.node)
    else:
        op = typed(frame, value, operand.node)
    if op.type == target:
        return op
    _check_width(frame, scalar_type(op), target, operand.node, call)
    return frame.emit(ops.BITCAST, op, at=call.node, attrs={"to": target})


def _check_width(frame: Frame, source: Scalar, target: Scalar, at: ast.AST, call: Call) -> None:
    """Refuse a `bitcast` between numbers of different widths, or of a bool."""
    text = snippet(at)
    if BOOL in (source, target):
        flag = f"{text} != 0" if target == BOOL else f"{target}({text})"
        raise frame.error(
            CubeTypeError, f"{call.name} of {source} to {target}: a bool is no pattern of bits",
            call.node, f"convert it: {flag}",
        )  # fmt: skip
    if source.bits != target.bits:
        alike = f"u{source.bits}"
        raise frame.error(
            CubeTypeError,
            f"{call.name}: {source} has {source.bits} bits, {target} has {target.bits}",
            call.node,
            f"take the bits as they are and convert them: {target}({call.name}({alike}, {text}))"
            if target.is_integer
            else f"give it a number of {target.bits} bits",
        )


def _by_name(name: str) -> Scalar | None:
    return SCALARS.get(name)


@lowers_intrinsic("select")
def lower_select(frame: Frame, call: Call) -> Value:
    """`cb.select(c, a, b)`: both are evaluated."""
    condition, a, b = required(frame, call, "condition", "a", "b")
    chosen = as_condition(frame, condition.value, condition.node)
    if not isinstance(chosen, bool):
        return selected(frame, chosen, a, b, call.node)
    lhs, rhs = unify(frame, [a, b], call.node, "choose between")
    taken = a.value if chosen else b.value
    return taken if is_number(a.value) and is_number(b.value) else lhs if chosen else rhs


# ── spelled out ──────────────────────────────────────────────────────────────────────────────────


@lowers_intrinsic("clamp")
def lower_clamp(frame: Frame, call: Call) -> Value:
    """`cb.clamp(x, low, high)`: `min(max(x, low), high)`."""
    operands = required(frame, call, "value", "low", "high")
    value, low, high = unify(frame, operands, call.node, "clamp")
    raised = frame.emit(ops.MAX, value, low, at=call.node)
    clamped = frame.emit(ops.MIN, raised, high, at=call.node)
    literals = [literals_of(frame, operand.value, operand.node) for operand in operands]
    note_choice(frame, clamped, call.node, *literals)
    return clamped


@lowers_intrinsic("recip")
def lower_recip(frame: Frame, call: Call) -> Value:
    """`1 / x`."""
    (operand,) = required(frame, call, "value")
    return binary(frame, ast.Div(), Operand(Known(1.0), call.node), operand, call.node)


@lowers_intrinsic("cdiv")
def lower_cdiv(frame: Frame, call: Call) -> Value:
    """The quotient rounded up: the floor, and one more where something is left."""
    operands = required(frame, call, "a", "b")
    values = [operand.value for operand in operands]
    if all(isinstance(value, Known) and is_number(value) for value in values):
        a, b = (known_value(frame, value) for value in values)
        if isinstance(a, int) and isinstance(b, int):
            return Known(-(-a // b)) if b else Known(0)
    lhs, rhs = unify(frame, operands, call.node, "divide")
    type = scalar_type(lhs)
    if not type.is_integer:
        raise frame.error(
            CubeTypeError, f"cb.cdiv takes integers, not {type}", call.node, "write cb.ceil(a / b)"
        )
    quotient = frame.emit(ops.FLOOR_DIV, lhs, rhs, at=call.node)
    rest = frame.emit(ops.FLOOR_MOD, lhs, rhs, at=call.node)
    more = frame.emit(ops.NE, rest, frame.const(type, 0, call.node), at=call.node)
    return frame.emit(ops.ADD, quotient, convert(frame, more, type, call.node), at=call.node)


def _rotation(row: OpDef) -> Callable[[Frame, Call], Value]:
    def run(frame: Frame, call: Call) -> Value:
        """The count is any integer, taken modulo the width of the value."""
        value, count = required(frame, call, "value", "count")
        op = typed(frame, value.value, value.node)
        type = scalar_type(op)
        if not type.is_integer:
            raise frame.error(
                CubeTypeError, f"{call.name} takes integers, not {type}", call.node,
                f"take the bits: cb.bitcast(u32, {snippet(value.node)})",
            )  # fmt: skip
        steps = convert(frame, as_index(frame, count.value, count.node, "a count"), type, call.node)
        return frame.emit(row, op, steps, at=call.node)

    return run


for _row in (ops.ROTL, ops.ROTR):
    lowers_intrinsic(_row.python)(_rotation(_row))


@lowers_intrinsic("frexp")
def lower_frexp(frame: Frame, call: Call) -> Value:
    """`cb.frexp(x)`: a significand from 1/2 to 1, and the exponent as i32."""
    operands = required(frame, call, "value")
    rows = (ops.FREXP_MANTISSA, ops.FREXP_EXPONENT)
    parts = [apply_row(frame, row, operands, call.node, call.name) for row in rows]
    return TupleValue(tuple(parts))


@lowers_intrinsic("ldexp")
def lower_ldexp(frame: Frame, call: Call) -> Value:
    """`cb.ldexp(x, n)`: x·2**n rounded once; n is any integer."""
    value, exponent = required(frame, call, "value", "exponent")
    made = unify(frame, [value], call.node, "scale")
    if not _takes(ops.FREXP_MANTISSA, scalar_type(made[0])):
        made = _floats(frame, ops.FREXP_MANTISSA, [value], made, call.node, call.name)
    steps = as_index(frame, exponent.value, exponent.node, "an exponent")
    for row, limit in ((ops.MAX, -_FARTHEST), (ops.MIN, _FARTHEST)):
        steps = frame.emit(row, steps, frame.const(INDEX, limit, call.node), at=call.node)
    return frame.emit(ops.LDEXP, made[0], convert(frame, steps, I32, call.node), at=call.node)
