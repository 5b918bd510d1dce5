"""Barriers, plane operations and atomics in kernels."""

from __future__ import annotations

import ast
from collections.abc import Callable

from cubepy.errors import CubeTypeError, CubeValueError
from cubepy.frontend.calls import Call, bind_call, lowers_intrinsic
from cubepy.frontend.coercion import Operand, as_condition, as_index, as_store, scalar_type, typed
from cubepy.frontend.comptime import comptime_value
from cubepy.frontend.descriptions import counted, describe, snippet
from cubepy.frontend.frame import Frame
from cubepy.frontend.memory import memory_type
from cubepy.frontend.values import NONE, Known, Partial, TupleValue, Value, is_memory
from cubepy.ir import BOOL, I32, SCOPES, Op, OpDef, PrivateType, Scalar, ops, orders_of

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
            CubeValueError, f"no scope {scope!r}", operand.node, f"one of {', '.join(SCOPES)}"
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


def _identity(row: OpDef, type: Scalar) -> bool | int | float:
    """The value that changes nothing in a reduction."""
    if row is ops.PLANE_MIN:
        return float("inf") if type.is_float else type.maximum
    if row is ops.PLANE_MAX:
        return float("-inf") if type.is_float else type.minimum
    one = row in (ops.PLANE_PROD, ops.PLANE_INCLUSIVE_PROD, ops.PLANE_EXCLUSIVE_PROD)
    if type.is_float:
        return 1.0 if one else -0.0
    return 1 if one else 0


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
            neutral = frame.const(type, _identity(row, type), call.node)
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


for _row in (
    ops.PLANE_SUM, ops.PLANE_PROD, ops.PLANE_MIN, ops.PLANE_MAX, ops.PLANE_INCLUSIVE_SUM,
    ops.PLANE_EXCLUSIVE_SUM, ops.PLANE_INCLUSIVE_PROD, ops.PLANE_EXCLUSIVE_PROD,
):  # fmt: skip
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


# ── atomics ──────────────────────────────────────────────────────────────────────────────────────


def _refuse_element(frame: Frame, call: Call) -> None:
    """The array and the subscript are two arguments: an element has no place any more."""
    if call.positional and isinstance(call.positional[0].value, Op):
        value, node = call.positional[0].value, call.positional[0].node
        if not is_memory(value):
            array, at = ("x", "i")
            if isinstance(node, ast.Subscript):
                array, at = snippet(node.value), snippet(node.slice)
            raise frame.error(
                CubeTypeError,
                f"{call.name} needs an array, not {describe(value)}",
                node,
                f"write {call.name}({array}, {at}, …)",
            )


def _place(frame: Frame, array: Operand, position: Operand, name: str) -> tuple[Op, list[Op]]:
    """The memory and the subscripts of an atomic."""
    value = array.value
    memory, given = (
        (value.memory, list(value.indices)) if isinstance(value, Partial) else (value, [])
    )
    if not isinstance(memory, Op) or not is_memory(memory):
        raise frame.error(
            CubeTypeError,
            f"{name} needs an array, not {describe(value)}",
            array.node,
            f"write {name}(x, i, …)",
        )
    type = memory_type(memory)
    if isinstance(type, PrivateType):
        raise frame.error(
            CubeTypeError,
            f"{name} on an array of one unit",
            array.node,
            "read and write it plainly",
        )
    if type.element == BOOL:
        raise frame.error(
            CubeTypeError, f"{name} on an array of bool", array.node, "use an array of u8"
        )
    at = position.value
    items = at.items if isinstance(at, TupleValue) else (at,)
    indices = [*given, *(as_index(frame, item, position.node) for item in items)]
    if len(indices) != type.rank:
        raise frame.error(
            CubeTypeError,
            f"{counted(len(indices), 'subscript')} for an array with {type.rank} axes",
            position.node,
            "give a tuple: (i, j)",
        )
    return memory, indices


def _order(frame: Frame, row: OpDef, operand: Operand | None) -> str:
    if operand is None:
        return "relaxed"
    order = comptime_value(frame, operand.value, operand.node, "the order of an atomic")
    if order not in orders_of(row):
        raise frame.error(
            CubeValueError,
            f"cb.{row.python} has no order {order!r}",
            operand.node,
            f"one of {', '.join(orders_of(row))}",
        )
    return str(order)


def _emit_atomic(
    frame: Frame, row: OpDef, memory: Op, operands: list[Op], order: str, at: ast.AST
) -> Op:
    attrs = {"order": order, "check": frame.session.specialization.options.check}
    return frame.emit(row, memory, *operands, at=at, attrs=attrs)


def _atomic(row: OpDef) -> Callable[[Frame, Call], Value]:
    def run(frame: Frame, call: Call) -> Value:
        _refuse_element(frame, call)
        array, position, value, order = bind_call(
            frame, call, "array", "index", "value", optional={"order": None}
        )
        assert array is not None
        assert position is not None
        assert value is not None
        memory, indices = _place(frame, array, position, call.name)
        op = as_store(
            frame, value.value, memory_type(memory).element, value.node, snippet(array.node)
        )
        bitwise = row in (ops.ATOMIC_AND, ops.ATOMIC_OR, ops.ATOMIC_XOR)
        if bitwise and scalar_type(op).is_float:
            raise frame.error(
                CubeTypeError, f"{call.name} on floats", call.node, "keep the bits as u32"
            )
        return _emit_atomic(
            frame, row, memory, [*indices, op], _order(frame, row, order), call.node
        )

    return run


for _row in (
    ops.ATOMIC_ADD, ops.ATOMIC_SUB, ops.ATOMIC_MIN, ops.ATOMIC_MAX, ops.ATOMIC_AND, ops.ATOMIC_OR,
    ops.ATOMIC_XOR, ops.ATOMIC_EXCHANGE,
):  # fmt: skip
    lowers_intrinsic(_row.python)(_atomic(_row))


@lowers_intrinsic("atomic_compare_exchange")
def lower_compare_exchange(frame: Frame, call: Call) -> Value:
    """`cb.atomic_compare_exchange(array, index, expected, value)`."""
    array, position, expected, value, order = bind_call(
        frame, call, "array", "index", "expected", "value", optional={"order": None}
    )
    assert array is not None
    assert position is not None
    assert expected is not None
    assert value is not None
    memory, indices = _place(frame, array, position, call.name)
    element = memory_type(memory).element
    pair = [as_store(frame, operand.value, element, operand.node, snippet(array.node))
            for operand in (expected, value)]  # fmt: skip
    return _emit_atomic(
        frame,
        ops.ATOMIC_COMPARE_EXCHANGE,
        memory,
        [*indices, *pair],
        _order(frame, ops.ATOMIC_COMPARE_EXCHANGE, order),
        call.node,
    )


@lowers_intrinsic("atomic_load")
def lower_atomic_load(frame: Frame, call: Call) -> Value:
    """`cb.atomic_load(array, index)`."""
    array, position, order = bind_call(frame, call, "array", "index", optional={"order": None})
    assert array is not None
    assert position is not None
    memory, indices = _place(frame, array, position, call.name)
    kind = _order(frame, ops.ATOMIC_LOAD, order)
    return _emit_atomic(frame, ops.ATOMIC_LOAD, memory, indices, kind, call.node)


@lowers_intrinsic("atomic_store")
def lower_atomic_store(frame: Frame, call: Call) -> Value:
    """`cb.atomic_store(array, index, value)`."""
    _atomic(ops.ATOMIC_STORE)(frame, call)
    return NONE
