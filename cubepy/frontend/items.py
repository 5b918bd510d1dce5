"""Subscripts of what is no array: tuples, vectors, objects known while compiling."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence, Sized
from typing import Any

from cubepy.errors import ComptimeError, CubeTypeError, CubeValueError, SourceError
from cubepy.frontend.coercion import Operand
from cubepy.frontend.comptime import UNKNOWN_VALUE, from_python, known_value
from cubepy.frontend.descriptions import counted, describe, snippet
from cubepy.frontend.dispatch import lower_expression
from cubepy.frontend.frame import Frame
from cubepy.frontend.values import POISON, Known, Poison, TupleValue, Value
from cubepy.ir import BufferType, Op, Scalar, ops

__all__ = ["item_of", "slices_groups", "subscripts_groups"]

Subscripter = Callable[[Frame, Value, Operand, ast.AST], Value | None]
_SUBSCRIPTERS: list[Subscripter] = []


Slicer = Callable[[Frame, Value, slice, ast.AST], Value | None]
_SLICERS: list[Slicer] = []


def slices_groups(slicer: Slicer) -> Slicer:
    """Say which function slices values; it gives None for those it does not know."""
    _SLICERS.append(slicer)
    return slicer


def subscripts_groups(subscripter: Subscripter) -> Subscripter:
    """Say which function subscripts values; it gives None for those it does not know."""
    _SUBSCRIPTERS.append(subscripter)
    return subscripter


def item_of(frame: Frame, owner: Value, node: ast.Subscript) -> Value:
    """An element of a tuple or of an object known while compiling."""
    if isinstance(node.slice, ast.Slice):
        return _sliced(frame, owner, node)
    position = lower_expression(frame, node.slice)
    if isinstance(position, Poison):
        return POISON
    for subscripter in _SUBSCRIPTERS:
        item = subscripter(frame, owner, Operand(position, node.slice), node)
        if item is not None:
            return item
    if isinstance(owner, Op) and isinstance(owner.type, Scalar):
        raise _number_subscripted(frame, owner, node)
    at = known_value(frame, position, plane=True)
    if at is UNKNOWN_VALUE:
        raise frame.error(
            ComptimeError,
            f"the subscript of {describe(owner)} must be known while compiling",
            node.slice,
            "loop with cb.unroll, or copy the elements to cb.local_array",
        )
    return _item(frame, owner, at, node)


def _number_subscripted(frame: Frame, number: Op, node: ast.Subscript) -> Exception:
    """The error for `s[i]` of a number; one read from an array may have been meant to be a row."""
    help = "leave the subscript out, or subscript the array that the number is from"
    array = number.operands[0] if number.opdef is ops.LOAD else None
    if array is not None and isinstance(array.type, BufferType) and array.opdef is ops.PARAM:
        name, element, rank = array.name, array.type.element, array.type.rank
        axes = ",".join(":" * (rank + 1))
        help = (
            f"{name} has {counted(rank, 'axis', 'axes')} here; for rows, make it a "
            f"Tensor[{element}] and give it {rank + 1}: in a signature, {name}={element}[{axes}]"
        )
    return frame.error(
        CubeTypeError,
        f"cannot subscript {describe(number)}: {snippet(node.value)} is a number, without elements",
        node,
        help,
    )


def _item(frame: Frame, owner: Value, at: Any, node: ast.Subscript) -> Value:
    """`owner[at]` as Python finds it."""
    holder = owner.items if isinstance(owner, TupleValue) else getattr(owner, "value", None)
    if not hasattr(type(holder), "__getitem__") and not isinstance(holder, type):
        raise frame.error(
            CubeTypeError,
            f"cannot subscript {describe(owner)}",
            node,
            "only arrays, tuples and objects known while compiling have elements",
        )
    assert holder is not None
    try:
        found = holder[at]
    except SourceError as error:  # of Vector[…], which does not know its place
        told = error.diagnostics[0]
        raise frame.error(type(error), told.message, node.slice, told.help) from error
    except Exception as error:
        inside = isinstance(error, IndexError) and isinstance(holder, Sized)
        raise frame.error(
            CubeValueError,
            f"{snippet(node)}: {error}" if str(error) else f"{snippet(node)} cannot be read",
            node.slice,
            f"it has {counted(len(holder), 'element')}"
            if inside
            else f"write what {snippet(node.value)} takes in brackets",
        ) from error
    return found if isinstance(owner, TupleValue) else from_python(frame, found, node)


def _sliced(frame: Frame, owner: Value, node: ast.Subscript) -> Value:
    assert isinstance(node.slice, ast.Slice)
    bounds = [_bound(frame, part) for part in (node.slice.lower, node.slice.upper, node.slice.step)]
    if bounds[2] == 0:
        raise frame.error(
            CubeValueError,
            "the step of a slice is 0",
            node.slice,
            "write [::1], or [::-1] for backwards",
        )
    if isinstance(owner, TupleValue):
        return TupleValue(owner.items[slice(*bounds)])
    for slicer in _SLICERS:
        found = slicer(frame, owner, slice(*bounds), node)
        if found is not None:
            return found
    if isinstance(owner, Known) and isinstance(owner.value, Sequence):
        return Known(owner.value[slice(*bounds)])
    raise frame.error(
        CubeTypeError,
        f"cannot slice {describe(owner)}",
        node,
        "arrays, vectors and tuples have parts",
    )


def _bound(frame: Frame, node: ast.expr | None) -> int | None:
    if node is None:
        return None
    value = known_value(frame, lower_expression(frame, node), plane=True)
    if not isinstance(value, int):
        raise frame.error(
            ComptimeError,
            "the bounds of a slice must be known while compiling",
            node,
            "slice by literals, captured constants or Comptime parameters",
        )
    return value
