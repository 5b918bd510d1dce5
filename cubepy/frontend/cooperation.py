"""Barriers, fences and plane operations in kernels."""

from __future__ import annotations

import ast
from collections.abc import Callable

from cubepy.errors import CubeTypeError, CubeValueError
from cubepy.frontend.calls import Call, bind_call, lowers_intrinsic
from cubepy.frontend.coercion import Operand, as_condition, as_index, typed
from cubepy.frontend.comptime import comptime_value
from cubepy.frontend.descriptions import snippet
from cubepy.frontend.frame import Frame
from cubepy.frontend.values import NONE, Known, Value
from cubepy.frontend.wording import describe_object
from cubepy.ir import (
    BOOL,
    I32,
    PLANE_REDUCTIONS,
    PLANE_SCANS,
    SCOPES,
    Op,
    OpDef,
    neutral_of,
    ops,
    scalar_type,
)

__all__: list[str] = []


# ── barriers ─────────────────────────────────────────────────────────────────────────────────────


def _barrier(row: OpDef) -> Callable[[Frame, Call], Value]:
    def run(frame: Frame, call: Call) -> Value:
        bind_call(frame, call)
        frame.emit(row, at=call.node)
        return NONE

    return run


for _row in (ops.SYNC_CUBE, ops.SYNC_STORAGE, ops.SYNC_PLANE):
    lowers_intrinsic(_row.python)(_barrier(_row))


@lowers_intrinsic("fence")
def lower_fence(frame: Frame, call: Call) -> Value:
    """`cb.fence(scope)`: "cube" or "device"."""
    (operand,) = bind_call(frame, call, optional={"scope": None})
    scope: object = "device"
    if operand is not None:
        scope = comptime_value(frame, operand.value, operand.node, "the scope of a fence")
    if scope not in SCOPES:
        assert operand is not None
        raise frame.error(
            CubeValueError,
            f"no scope {repr(scope) if isinstance(scope, str) else describe_object(scope)}",
            operand.node,
            f"one of {', '.join(SCOPES)}",
        )
    frame.emit(ops.FENCE, at=call.node, attrs={"scope": str(scope)})
    return NONE


@lowers_intrinsic("cube_uniform")
def lower_cube_uniform(frame: Frame, call: Call) -> Value:
    """The value of unit 0."""
    (operand,) = bind_call(frame, call, "value")
    assert operand is not None
    return frame.emit(ops.CUBE_UNIFORM, typed(frame, operand.value, operand.node), at=call.node)


# ── plane operations ─────────────────────────────────────────────────────────────────────────────


_COMBINED = {**PLANE_REDUCTIONS, **{row: combine for row, (combine, _) in PLANE_SCANS.items()}}


def _reduction(row: OpDef) -> Callable[[Frame, Call], Value]:
    def run(frame: Frame, call: Call) -> Value:
        operand, where = bind_call(frame, call, "value", optional={"where": None})
        assert operand is not None
        op = typed(frame, operand.value, operand.node)
        type = scalar_type(op)
        if type == BOOL:
            raise frame.error(
                CubeTypeError,
                f"{call.name} takes numbers, not bool",
                call.node,
                f"convert: {call.name}(i32({snippet(operand.node)}))",
            )
        if where is not None:
            neutral = frame.const(type, neutral_of(_COMBINED[row], type), call.node)
            op = _where(frame, where, op, neutral, call.node)
        return frame.emit(row, op, at=call.node)

    return run


def _where(frame: Frame, where: Operand, op: Op, neutral: Op, at: ast.AST) -> Op:
    condition = as_condition(frame, where.value, where.node)
    if isinstance(condition, bool):
        return op if condition else neutral
    return frame.emit(ops.SELECT, condition, op, neutral, at=at)


def _vote(row: OpDef) -> Callable[[Frame, Call], Value]:
    def run(frame: Frame, call: Call) -> Value:
        operand, where = bind_call(frame, call, "value", optional={"where": None})
        assert operand is not None
        condition = as_condition(frame, operand.value, operand.node)
        op = frame.const(BOOL, condition, call.node) if isinstance(condition, bool) else condition
        if where is not None:
            neutral = frame.const(BOOL, row is ops.PLANE_ALL, call.node)
            op = _where(frame, where, op, neutral, call.node)
        return frame.emit(row, op, at=call.node)

    return run


def _lane(row: OpDef) -> Callable[[Frame, Call], Value]:
    def run(frame: Frame, call: Call) -> Value:
        operand, lane, where = bind_call(frame, call, "value", "lane", optional={"where": None})
        assert operand is not None
        assert lane is not None
        op = typed(frame, operand.value, operand.node)
        number = lane.value
        at = (
            as_index(frame, number, lane.node, "a lane number")
            if isinstance(number, Known)
            else typed(frame, number, lane.node)
        )
        if not scalar_type(at).is_integer:
            raise frame.error(
                CubeTypeError,
                f"a lane number must be an integer, not {at.type}",
                lane.node,
                f"convert: i32({snippet(lane.node)})",
            )
        taken = frame.emit(row, op, at, at=call.node)
        there = None if where is None else _flag(frame, where)
        if there is None:
            return taken
        # a lane that does not count gives its value to nobody
        counts = frame.emit(row, there, at, at=call.node)
        return frame.emit(ops.SELECT, counts, taken, op, at=call.node)

    return run


def _flag(frame: Frame, where: Operand) -> Op | None:
    """`where=` as a run-time bool; None where it holds for all lanes."""
    condition = as_condition(frame, where.value, where.node)
    if isinstance(condition, bool):
        return None if condition else frame.const(BOOL, condition, where.node)
    return condition


for _row in _COMBINED:
    lowers_intrinsic(_row.python)(_reduction(_row))
for _row in (ops.PLANE_ALL, ops.PLANE_ANY, ops.PLANE_BALLOT):
    lowers_intrinsic(_row.python)(_vote(_row))
for _row in (
    ops.PLANE_BROADCAST, ops.PLANE_SHUFFLE, ops.PLANE_SHUFFLE_XOR, ops.PLANE_SHUFFLE_UP,
    ops.PLANE_SHUFFLE_DOWN,
):  # fmt: skip
    lowers_intrinsic(_row.python)(_lane(_row))


@lowers_intrinsic("plane_elect")
def lower_elect(frame: Frame, call: Call) -> Value:
    """True in one lane: the lowest that is there, or the lowest of those that count."""
    (where,) = bind_call(frame, call, optional={"where": None})
    there = None if where is None else _flag(frame, where)
    if there is None:
        return frame.emit(ops.PLANE_ELECT, at=call.node)
    number = frame.emit(ops.CAST, there, at=call.node, attrs={"to": I32})
    below = frame.emit(ops.PLANE_EXCLUSIVE_SUM, number, at=call.node)
    first = frame.emit(ops.EQ, below, frame.const(I32, 0, call.node), at=call.node)
    return frame.emit(ops.BIT_AND, there, first, at=call.node)
