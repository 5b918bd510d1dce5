"""Operators that a struct's class defines: `__add__` and its like, comparisons, calls, `[]`."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from cubepy.errors import CubeTypeError
from cubepy.frontend.calls import Call, call_of, calls_values
from cubepy.frontend.coercion import Operand
from cubepy.frontend.comparisons import compares_groups
from cubepy.frontend.descriptions import describe
from cubepy.frontend.fitting import opened
from cubepy.frontend.frame import Frame
from cubepy.frontend.items import subscripts_groups
from cubepy.frontend.operators import Operation, overloads_operators
from cubepy.frontend.structs import is_struct, written_method
from cubepy.frontend.values import Known, Method, StructValue, Value

__all__: list[str] = []

_NAMES: Mapping[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.MatMult: "matmul",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_MIRRORED: Mapping[type[ast.AST], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "gt",
    ast.LtE: "ge",
    ast.Gt: "lt",
    ast.GtE: "le",
}


def _method(frame: Frame, value: Value, name: str, at: ast.AST) -> Method | None:
    """The method of that name of a struct, if its class writes one out."""
    struct = isinstance(value, StructValue) or (
        isinstance(value, Known) and is_struct(type(value.value))
    )
    if not struct:
        return None
    owner = opened(frame, value, at)
    assert isinstance(owner, StructValue)
    frame.session.watch.attribute(owner.maker, name)
    function = written_method(owner.maker, name)  # type: ignore[arg-type]
    return None if function is None else Method(function, owner)


@overloads_operators
def operate(
    frame: Frame, operation: Operation, left: Operand, right: Operand | None, at: ast.AST
) -> Value | None:
    """`left op right` by the left one's method, else by the right one's reflected method."""
    name = _NAMES[type(operation)]
    method = _method(frame, left.value, f"__{name}__", left.node)
    if method is not None:
        return call_of(frame, method, name, at, *(() if right is None else (right,)))
    method = None if right is None else _method(frame, right.value, f"__r{name}__", at)
    return None if method is None else call_of(frame, method, name, at, left)


@compares_groups
def compare(
    frame: Frame, operation: ast.cmpop, left: Operand, right: Operand, at: ast.AST
) -> Value | None:
    """`left < right` by a method that the class writes out."""
    kind = type(operation)
    if kind not in _MIRRORED:
        return None
    name = _NAMES[kind]
    method = _method(frame, left.value, f"__{name}__", left.node)
    if method is not None:
        return call_of(frame, method, name, at, right)
    method = _method(frame, right.value, f"__{_MIRRORED[kind]}__", right.node)
    return None if method is None else call_of(frame, method, name, at, left)


@subscripts_groups
def subscript(frame: Frame, owner: Value, position: Operand, at: ast.AST) -> Value | None:
    """`struct[i]` by `__getitem__`."""
    method = _method(frame, owner, "__getitem__", at)
    if method is not None:
        return call_of(frame, method, "__getitem__", at, position)
    if isinstance(owner, StructValue):
        raise frame.error(
            CubeTypeError, f"{describe(owner)} has no elements", at,
            "name a field, or write a method __getitem__",
        )  # fmt: skip
    return None


@calls_values
def call(frame: Frame, target: Value, call: Call) -> Value | None:
    """`struct(x)` by `__call__`."""
    method = _method(frame, target, "__call__", call.node)
    if method is None:
        return None
    return call_of(frame, method, call.name, call.node, *call.positional)
