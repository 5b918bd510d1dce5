"""Values, numbers and expressions as error messages show them: short, and without addresses."""

from __future__ import annotations

import ast

from cubepy.frontend.values import (
    ArrayMethod,
    ArrayValue,
    Encoded,
    Group,
    Known,
    ListValue,
    LocalFunction,
    Mapped,
    Method,
    Sliced,
    StructValue,
    Text,
    Value,
    Vectorized,
    VectorValue,
    as_array,
)
from cubepy.frontend.wording import describe_object
from cubepy.ir import Op

__all__ = [
    "counted",
    "describe",
    "element_of_value",
    "instead_of_unpacking",
    "snippet",
    "subscripted",
]


def describe(value: Value) -> str:
    """A value in an error message."""
    if isinstance(value, Op):
        element = getattr(value.type, "element", None)
        return f"an array of {element}" if element is not None else str(value.type)
    if isinstance(value, Known):
        return describe_object(value.value)
    if isinstance(value, Group) and not isinstance(value, VectorValue):
        return _group(value)
    if isinstance(value, VectorValue):
        return f"Vector[{value.element}, {len(value.items)}]"
    if isinstance(value, Method):
        return f"the method {value.function.__name__}"
    if isinstance(value, LocalFunction):
        return "a function"
    if isinstance(value, Vectorized):
        return f"{describe(value.array)} in vectors of {value.count}"
    if isinstance(value, Text):
        return "a text of run-time values"
    if isinstance(value, Sliced) and all(axis.whole for axis in value.axes):
        return _too_few_subscripts(value)
    if isinstance(value, Encoded):
        return f"an array of {value.format.name}"
    if isinstance(value, Sliced | Mapped):
        return f"a view of {describe(_below(value))}"
    return f"the method {value.name}" if isinstance(value, ArrayMethod) else "nothing"


def _below(view: Sliced | Mapped) -> ArrayValue:
    """The array that a view of a view shows."""
    array: ArrayValue = view
    while isinstance(array, Sliced | Mapped):
        array = array.base
    return array


def _group(value: Group) -> str:
    name = getattr(value.maker, "__name__", "")
    if isinstance(value, StructValue):
        return f"the struct {name}"
    if name:
        return f"the named tuple {name}"
    return "a list" if isinstance(value, ListValue) else "a tuple"


def _too_few_subscripts(row: Sliced) -> str:
    given = sum(axis.index is not None for axis in row.axes)
    axes = counted(len(row.axes), "axis", "axes")
    if not given:
        return f"all of an array of {axes}"
    return f"an array of {axes} with {counted(given, 'subscript')}"


def element_of_value(value: Value, node: ast.AST) -> str:
    """How an element of an array is written that `node` names, with some subscripts or none."""
    if isinstance(value, Sliced) and all(axis.whole for axis in value.axes):
        while isinstance(node, ast.Subscript):
            node = node.value
        rank = len(value.axes)
    else:
        rank = getattr(value.type, "rank", 1) if isinstance(value, Op) else 1
    return subscripted(node, rank)


def subscripted(node: ast.AST, rank: int) -> str:
    """How an element is written of what `node` names."""
    return f"{snippet(node)}[{', '.join('ijklmnpq'[:rank])}]"


def counted(number: int, one: str, several: str = "") -> str:
    """`1 axis`, `2 axes`."""
    return f"{number} {one if number == 1 else several or one + 's'}"


def snippet(node: ast.AST, limit: int = 24) -> str:
    """A short expression as text, to be shown inside a suggested call."""
    if not isinstance(node, ast.expr):
        return "…"
    text = ast.unparse(node)
    return text if len(text) <= limit else "…"


# Positions that have one name for each axis as well.
_PLACES = frozenset({"ABSOLUTE_POS", "UNIT_POS", "CUBE_POS", "CUBE_DIM", "CUBE_COUNT"})


def instead_of_unpacking(value: Value, at: ast.AST) -> str:
    """What to write instead of taking a value apart that has no parts."""
    text = snippet(at)
    if as_array(value) is not None:
        return f"read its elements: {text}[0], {text}[1], …"
    place = text.rpartition(".")[2]
    if place in _PLACES:
        return f"an axis is a name of its own: y, x = {text}_Y, {text}_X, where x is the last axis"
    return "tuples, named tuples and shapes come apart; of a struct read the fields by name"
