"""`range` at the head of a loop: start, stop and step as ops of one integer type.

Any integers go together as bounds. A range known while compiling is not treated here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import TypeGuard

from cubepy.errors import ComptimeError, CubeTypeError, CubeValueError, shown
from cubepy.frontend.coercion import Operand, convert, literal, typed, unify
from cubepy.frontend.comptime import UNKNOWN_VALUE, known_value
from cubepy.frontend.descriptions import describe, snippet
from cubepy.frontend.dispatch import lower_expression
from cubepy.frontend.frame import Frame
from cubepy.frontend.promotion import literal_fits, promote
from cubepy.frontend.values import Known, Poison, Value, is_number
from cubepy.ir import INDEX, U64, Op, Scalar, ops, scalar_type
from cubepy.records import dataclass, replace

__all__ = ["Counting", "counting_of", "told_of_range"]


@dataclass(frozen=True, slots=True)
class Counting:
    """What a loop counts: `bounds` are start, stop and step; `value` makes of the counter what the
    loop variable is.
    """

    bounds: Sequence[Op]
    value: Callable[[Op], Op] = lambda counter: counter


def counting_of(frame: Frame, call: ast.Call) -> Counting | None:
    """The bounds of a `range`; None where one of them was wrong and has been reported."""
    if call.keywords or not 1 <= len(call.args) <= 3:
        raise frame.error(
            CubeTypeError, "range takes one to three numbers", call,
            "write range(stop), range(start, stop) or range(start, stop, step)",
        )  # fmt: skip

    given = [Operand(_weak(lower_expression(frame, argument), frame), argument)
             for argument in call.args]  # fmt: skip
    if any(isinstance(operand.value, Poison) for operand in given):
        return None
    for operand in given:
        _check_bound(frame, operand)
    start = given[0] if len(given) > 1 else Operand(Known(0), call)
    stop = given[0] if len(given) == 1 else given[1]
    step = given[2] if len(given) > 2 else Operand(Known(1), call)
    if known_value(frame, step.value) == 0:
        raise frame.error(
            CubeValueError, "the step of range is 0", step.node, "count up with 1, down with -1"
        )
    operands = [start, stop, step]
    if all(isinstance(operand.value, Known) for operand in operands):
        return Counting([_literal_bound(frame, operand) for operand in operands])
    _check_step(frame, step)
    if _share_no_type(operands):  # any integers go together as bounds
        operands = [_as_index(frame, operand) for operand in operands]
    if isinstance(step.value, Known) and step.value.value < 0:
        return _downward(frame, operands, call)
    return Counting(unify(frame, operands, call, "count between"))


def _literal_bound(frame: Frame, operand: Operand) -> Op:
    """Literals count in `index`, which is i64 in meaning."""
    assert isinstance(operand.value, Known)
    number = operand.value.value
    if not literal_fits(number, INDEX):
        raise frame.error(
            CubeValueError, f"{shown(number)} is too large for a bound of range", operand.node,
            f"count in u64: u64({snippet(operand.node)})" if literal_fits(number, U64) else
            "nothing counts that far",
        )  # fmt: skip
    return frame.const(INDEX, number, operand.node)


def _check_step(frame: Frame, step: Operand) -> None:
    """Where launches validate, a step that turns out to be 0 is reported, as by an assertion."""
    known = known_value(frame, step.value) is not UNKNOWN_VALUE
    if known or frame.session.specialization.options.check != "validate":
        return
    op = typed(frame, step.value, step.node)
    zero = frame.const(scalar_type(op), 0, step.node)
    moves = frame.emit(ops.NE, op, zero, at=step.node)
    frame.emit(ops.ASSERT, moves, at=step.node, attrs={"text": "the step of range is 0"})


def _share_no_type(operands: list[Operand]) -> bool:
    """Whether bounds, all of which fit `index`, have types that do not promote to one."""
    types = [operand.value.type for operand in operands if isinstance(operand.value, Op)]
    scalars = [type for type in types if isinstance(type, Scalar)]
    if U64 in scalars:
        return False
    common: Scalar | None = scalars[0] if scalars else INDEX
    for type in scalars[1:]:
        common = promote(common, type) if common is not None else None
    return common is None


def _as_index(frame: Frame, operand: Operand) -> Operand:
    if not isinstance(operand.value, Op):
        return operand
    return Operand(convert(frame, operand.value, INDEX, operand.node), operand.node)


def _downward(frame: Frame, operands: list[Operand], call: ast.Call) -> Counting:
    """A negative step beside unsigned bounds needs a wider, signed type; u64 has none."""
    bounds = unify(frame, operands[:2], call, "count between")
    type = scalar_type(bounds[0])
    step = operands[2].value
    assert isinstance(step, Known)
    if type == U64:
        return _downward_wide(frame, bounds, -step.value, call)
    if not type.is_signed:
        bounds = [convert(frame, bound, INDEX, call) for bound in bounds]
        type = INDEX
    return Counting([*bounds, literal(frame, step.value, type, operands[2].node)])


def _downward_wide(frame: Frame, bounds: list[Op], step: int, call: ast.Call) -> Counting:
    """`range(start, stop, -step)` of u64: trips are counted up, and taken from the start."""
    start, stop = bounds
    zero, one = frame.const(U64, 0, call), frame.const(U64, 1, call)
    stride = literal(frame, step, U64, call)
    some = frame.emit(ops.GT, start, stop, at=call)
    last = frame.emit(ops.SUB, frame.emit(ops.SUB, start, stop, at=call), one, at=call)
    more = frame.emit(ops.ADD, frame.emit(ops.FLOOR_DIV, last, stride, at=call), one, at=call)
    trips = frame.emit(ops.SELECT, some, more, zero, at=call)

    def value(trip: Op) -> Op:
        return frame.emit(ops.SUB, start, frame.emit(ops.MUL, trip, stride, at=call), at=call)

    return Counting([zero, trips, one], value)


def _weak(value: Value, frame: Frame) -> Value:
    """A local that is a literal counts as the literal: loops over it run over `index`."""
    if isinstance(value, Op) and value in frame.soft and value.opdef is ops.CONST:
        return Known(value.attrs["value"])
    return value


def _is_whole(value: Value) -> TypeGuard[Known]:
    return isinstance(value, Known) and isinstance(value.value, float) and value.value.is_integer()


def _check_bound(frame: Frame, operand: Operand) -> None:
    value = operand.value
    is_integer = is_number(value) and isinstance(value, Known) and isinstance(value.value, int)
    if is_integer and isinstance(value, Known) and not isinstance(value.value, bool):
        return
    if isinstance(value, Op) and isinstance(value.type, Scalar) and value.type.is_integer:
        return
    op_type = value.type if isinstance(value, Op) else None
    raise frame.error(
        CubeTypeError,
        f"a bound of range must be an integer, not {describe(value)}",
        operand.node,
        f"convert: cb.index({snippet(operand.node)})"
        if isinstance(op_type, Scalar)
        else f"write {int(value.value)}"
        if _is_whole(value)
        else "write a whole number",
    )


# ── ranges that must be known ────────────────────────────────────────────────────────────────────


def told_of_range(error: ComptimeError, loop: ast.expr) -> ComptimeError:
    """The error for what a loop runs over; of a part of a `range`, with the range to write."""
    written = _plain_range(loop)
    if not written:
        return error
    return ComptimeError([replace(each, help=f"write {written}") for each in error.diagnostics])


def _plain_range(loop: ast.expr) -> str:
    """`reversed(range(a, b))` and `range(n)[a:b]` as a range that may be known at run time."""
    match loop:
        case ast.Call(func=ast.Name("reversed"), args=[inner]) if bounds := _bounds(inner):
            return f"range({_less_one(bounds[1])}, {_less_one(bounds[0])}, -1)"
        case ast.Subscript(value=inner, slice=ast.Slice(lower, upper, None)):
            bounds = _bounds(inner)
            if bounds and bounds[0] == "0":
                start = "0" if lower is None else snippet(lower)
                stop = bounds[1] if upper is None else f"min({snippet(upper)}, {bounds[1]})"
                return f"range({start}, {stop})"
    return ""


def _bounds(inner: ast.expr) -> tuple[str, str] | None:
    """Start and stop of `range(stop)` or `range(start, stop)`, as written."""
    match inner:
        case ast.Call(func=ast.Name("range"), args=[stop]):
            return "0", snippet(stop)
        case ast.Call(func=ast.Name("range"), args=[start, stop]):
            return snippet(start), snippet(stop)
    return None


def _less_one(text: str) -> str:
    """One less than a bound; `a + b - 1` needs no brackets, a condition does."""
    if text.isdecimal():
        return str(int(text) - 1)
    simple = not re.search(r"\b(if|or|and|not)\b|[<>=|&^]", text)
    if not simple:
        return f"({text}) - 1"
    return text.removesuffix(" + 1") if text.endswith(" + 1") else f"{text} - 1"
