"""Atomics in kernels."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cubepy.errors import CubeTypeError, CubeValueError
from cubepy.frontend.arrays import known_length, memory_type, rank_of
from cubepy.frontend.calls import Call, bind_call, lowers_intrinsic
from cubepy.frontend.coercion import Operand, as_store
from cubepy.frontend.comptime import comptime_value
from cubepy.frontend.descriptions import counted, describe, snippet
from cubepy.frontend.frame import Frame
from cubepy.frontend.memory import Element, access, checked_index
from cubepy.frontend.values import (
    NONE,
    TupleValue,
    Value,
    as_array,
    format_of,
    is_memory,
    memory_of,
)
from cubepy.frontend.views import place_of
from cubepy.frontend.wording import describe_object
from cubepy.ir import BOOL, Op, OpDef, PrivateType, Scalar, ops, orders_of, scalar_type

__all__: list[str] = []


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


def _element(frame: Frame, array: Operand, position: Operand, name: str) -> Element:
    """The element that an atomic works on."""
    value = as_array(array.value)
    if value is None:
        raise frame.error(
            CubeTypeError,
            f"{name} needs an array, not {describe(array.value)}",
            array.node,
            f"write {name}(x, i, …)",
        )
    format = format_of(value)
    if format is not None:
        raise frame.error(
            CubeTypeError,
            f"{name} on an array of {format.name}",
            array.node,
            "no device adds or compares such numbers: use an array of f32",
        )
    type = memory_type(memory_of(value))
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
    lengths = [
        known_length(frame, value, axis) if axis < rank_of(value) else None
        for axis in range(len(items))
    ]
    indices = [
        checked_index(frame, item, position.node, length)
        for item, length in zip(items, lengths, strict=True)
    ]
    if len(indices) != rank_of(value):
        raise frame.error(
            CubeTypeError,
            f"{counted(len(indices), 'subscript')} for an array with "
            f"{counted(rank_of(value), 'axis', 'axes')}",
            position.node,
            "give a tuple: (i, j)" if rank_of(value) > 1 else "an array with one axis takes one",
        )
    return Element(place_of(frame, value, indices, position.node), snippet(array.node))


def _word(value: object) -> str:
    return repr(value) if isinstance(value, str) else describe_object(value)


def _order(frame: Frame, row: OpDef, operand: Operand | None) -> str:
    if operand is None:
        return "relaxed"
    order = comptime_value(frame, operand.value, operand.node, "the order of an atomic")
    if order not in orders_of(row):
        raise frame.error(
            CubeValueError,
            f"cb.{row.python} has no order {_word(order)}",
            operand.node,
            f"one of {', '.join(orders_of(row))}",
        )
    return str(order)


def _emit(
    frame: Frame, row: OpDef, element: Element, operands: list[Op], order: str, at: ast.AST
) -> Value:
    def act(attributes: dict[str, Any]) -> Op:
        attrs = {"order": order, **attributes}
        return frame.emit(
            row, element.place.memory, *element.place.indices, *operands, at=at, attrs=attrs
        )

    result = None if row is ops.ATOMIC_STORE else element.type
    made = access(frame, element, at, result, act)
    return NONE if result is None or made is None else made


def _atomic(row: OpDef) -> Callable[[Frame, Call], Value]:
    def run(frame: Frame, call: Call) -> Value:
        _refuse_element(frame, call)
        array, position, value, order = bind_call(
            frame, call, "array", "index", "value", optional={"order": None}
        )
        assert array is not None
        assert position is not None
        assert value is not None
        element = _element(frame, array, position, call.name)
        op = as_store(frame, value.value, element.type, value.node, snippet(array.node))
        bitwise = row in (ops.ATOMIC_AND, ops.ATOMIC_OR, ops.ATOMIC_XOR)
        if bitwise and scalar_type(op).is_float:
            raise frame.error(
                CubeTypeError, f"{call.name} on floats", call.node, "keep the bits as u32"
            )
        if frame.session.deterministic and row is not ops.ATOMIC_STORE:
            _refuse_float(frame, scalar_type(op), call)
        return _emit(frame, row, element, [op], _order(frame, row, order), call.node)

    return run


def _refuse_float(frame: Frame, type: Scalar, call: Call) -> None:
    """A float atomic in a kernel whose results must not depend on the order of its units."""
    if type.is_float:
        raise frame.error(
            CubeTypeError,
            f"{call.name} on floats in a kernel that is deterministic",
            call.node,
            "units come in any order, and sums round: add up in a loop, or with cb.plane_sum",
        )


for _row in (
    ops.ATOMIC_ADD, ops.ATOMIC_SUB, ops.ATOMIC_MIN, ops.ATOMIC_MAX, ops.ATOMIC_AND, ops.ATOMIC_OR,
    ops.ATOMIC_XOR, ops.ATOMIC_EXCHANGE, ops.ATOMIC_STORE,
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
    element = _element(frame, array, position, call.name)
    pair = [as_store(frame, operand.value, element.type, operand.node, snippet(array.node))
            for operand in (expected, value)]  # fmt: skip
    row = ops.ATOMIC_COMPARE_EXCHANGE
    return _emit(frame, row, element, pair, _order(frame, row, order), call.node)


@lowers_intrinsic("atomic_load")
def lower_atomic_load(frame: Frame, call: Call) -> Value:
    """`cb.atomic_load(array, index)`."""
    array, position, order = bind_call(frame, call, "array", "index", optional={"order": None})
    assert array is not None
    assert position is not None
    element = _element(frame, array, position, call.name)
    return _emit(
        frame, ops.ATOMIC_LOAD, element, [], _order(frame, ops.ATOMIC_LOAD, order), call.node
    )
