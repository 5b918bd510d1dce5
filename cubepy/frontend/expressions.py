"""Expressions: names, literals, operators, tuples, attributes.

Conditions, calls and subscripts stand in files of their own. A long sum is lowered in a loop, not
by recursion.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from cubepy.errors import CubeNameError, CubeSyntaxError, CubeTypeError
from cubepy.frontend.arrays import array_attribute
from cubepy.frontend.coercion import Operand, as_condition
from cubepy.frontend.comptime import (
    UNKNOWN_VALUE,
    from_python,
    known_attribute,
    known_value,
    outside_name,
)
from cubepy.frontend.descriptions import describe, instead_of_unpacking
from cubepy.frontend.dispatch import lower_expression, lowers_expression
from cubepy.frontend.evaluation import bounded_range, evaluate_in_python, python_items
from cubepy.frontend.frame import Frame
from cubepy.frontend.names import free_names, read_names
from cubepy.frontend.operators import binary, unary
from cubepy.frontend.scalars import class_of
from cubepy.frontend.values import (
    POISON,
    RECURSION,
    Known,
    ListValue,
    LocalFunction,
    Poison,
    TupleValue,
    Value,
    as_array,
    items_in_order,
    kept,
)
from cubepy.frontend.variables import assign, is_assigned, read
from cubepy.ir import Op, Scalar, ops

__all__ = [
    "local_function",
    "reads_attributes",
    "reads_inherited",
    "unpacked",
]


@lowers_expression(ast.Constant)
def lower_constant(frame: Frame, node: ast.Constant) -> Value:
    """A literal; complex numbers have no type in kernels."""
    if isinstance(node.value, complex):
        raise frame.error(
            CubeTypeError, "kernels have no complex numbers", node, "compute with two floats"
        )
    return Known(node.value)


@lowers_expression(ast.Name)
def lower_name(frame: Frame, node: ast.Name) -> Value:
    """A variable, a captured value of a surrounding function of the kernel, or a name outside."""
    variable = frame.analysis.variables.get(node)
    if variable is not None:
        return read(frame, variable, node)
    if node.id in frame.outer:
        return frame.outer[node.id]
    value, _ = outside_name(frame, (node.id,), node)
    return from_python(frame, value, node)


Reader = Callable[[Frame, Value, str, ast.AST], Value | None]
_READERS: list[Reader] = []


def reads_attributes(reader: Reader) -> Reader:
    """Say which function reads attributes of values; it gives None for those it does not know."""
    _READERS.append(reader)
    return reader


Inherited = Callable[[Frame, ast.Call, str, ast.AST], Value]
_INHERITED: list[Inherited] = []


def reads_inherited(reader: Inherited) -> Inherited:
    """Say which function reads what stands behind `super()`."""
    _INHERITED.append(reader)
    return reader


def _is_super(node: ast.expr, frame: Frame) -> TypeGuard[ast.Call]:
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Name) or function.id != "super":
        return False
    found = lower_expression(frame, function)
    return isinstance(found, Known) and found.value is builtins.super


@lowers_expression(ast.Attribute)
def lower_attribute(frame: Frame, node: ast.Attribute) -> Value:
    """`owner.name`: of a module or object known while compiling, of an array, of a named tuple."""
    path = _outside_path(frame, node)
    if path is not None:
        value, used = outside_name(frame, path, node)
        for name in path[used:]:
            value = known_attribute(frame, value, name, node)
        return from_python(frame, value, node)
    super_call = node.value
    if _is_super(super_call, frame):
        return _INHERITED[0](frame, super_call, node.attr, node)
    owner = lower_expression(frame, node.value)
    if isinstance(owner, Poison):
        return POISON
    if isinstance(owner, Known):
        return from_python(frame, known_attribute(frame, owner.value, node.attr, node), node)
    for reader in _READERS:
        found = reader(frame, owner, node.attr, node)
        if found is not None:
            return found
    array = as_array(owner)
    if array is not None:
        return array_attribute(frame, array, node.attr, node)
    number = owner.type if isinstance(owner, Op) else None
    if isinstance(number, Scalar) and node.attr == "dtype":
        return Known(class_of(number))
    if isinstance(owner, ListValue):
        raise frame.error(
            CubeNameError,
            f"{describe(owner)} has no attribute {node.attr!r}: in a kernel it never changes",
            node,
            "use cb.local_array(T, size) and count the elements yourself",
        )
    fields = getattr(owner.maker, "_fields", ()) if isinstance(owner, TupleValue) else ()
    raise frame.error(
        CubeNameError,
        f"{describe(owner)} has no attribute {node.attr!r}",
        node,
        f"its fields are {', '.join(fields)}"
        if fields
        else "a number has only its dtype"
        if isinstance(number, Scalar)
        else "plain tuples have none here",
    )


def _outside_path(frame: Frame, node: ast.Attribute) -> tuple[str, ...] | None:
    """The dotted name if it begins outside the function."""
    parts: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if not isinstance(inner, ast.Name):
        return None
    if inner in frame.analysis.variables or inner.id in frame.outer:
        return None
    return (inner.id, *reversed(parts))


@lowers_expression(ast.BinOp)
def lower_binary(frame: Frame, node: ast.BinOp) -> Value:
    """A binary operation; a chain that leans to the left is taken apart in a loop."""
    chain: list[ast.BinOp] = []
    inner: ast.expr = node
    while isinstance(inner, ast.BinOp):
        chain.append(inner)
        inner = inner.left
    left = Operand(lower_expression(frame, inner), inner)
    for link in reversed(chain):
        right = Operand(lower_expression(frame, link.right), link.right)
        left = Operand(binary(frame, link.op, left, right, link), link)
    return left.value


@lowers_expression(ast.UnaryOp)
def lower_unary(frame: Frame, node: ast.UnaryOp) -> Value:
    """`-x`, `+x`, `~x`, `not x`."""
    if isinstance(node.op, ast.Not):
        value = lower_expression(frame, node.operand)
        if isinstance(value, Poison):
            return POISON
        condition = as_condition(frame, value, node.operand)
        if isinstance(condition, bool):
            return Known(not condition)
        return frame.emit(ops.BIT_NOT, condition, at=node)
    return unary(frame, node.op, Operand(lower_expression(frame, node.operand), node.operand), node)


@lowers_expression(ast.Tuple, ast.List)
def lower_tuple(frame: Frame, node: ast.Tuple | ast.List) -> Value:
    """Several values; a list display is a tuple, since nothing could append to it."""
    items: list[Value] = []
    for element in node.elts:
        if not isinstance(element, ast.Starred):
            items.append(lower_expression(frame, element))
            continue
        inner = lower_expression(frame, element.value)
        items.extend(unpacked(frame, inner, element))
    kind = ListValue if isinstance(node, ast.List) else TupleValue
    return kind(tuple(items))


def unpacked(frame: Frame, value: Value, at: ast.AST) -> Sequence[Value]:
    """The elements of a tuple."""
    found = items_in_order(value)
    if found is not None:
        return found
    if isinstance(value, Known) and isinstance(value.value, tuple | list | range | str):
        items = [from_python(frame, item, at) for item in python_items(frame, value.value, at)]
        return [kept(item) for item in items] if value.kept else items
    raise frame.error(
        CubeTypeError,
        f"cannot unpack {describe(value)}",
        at,
        instead_of_unpacking(value, at),
    )


@lowers_expression(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Dict, ast.Set)
def lower_by_python(frame: Frame, node: ast.expr) -> Value:
    """Comprehensions, dicts, sets: Python's own, of values known while compiling."""
    names: dict[str, Any] = {}
    for name in sorted(read_names(node)):
        if not hasattr(builtins, name) or name in frame.analysis.names:
            reference = ast.copy_location(ast.Name(id=name, ctx=ast.Load()), node)
            names[name] = known_value(frame, _named(frame, name, reference), plane=True)
        if names.get(name) is UNKNOWN_VALUE:
            raise frame.error(
                CubeSyntaxError,
                f"kernels have no {_PYTHON_ONLY[type(node)]} of run-time values ({name})",
                node,
                "use cb.local_array and a loop",
            )

    if "range" not in names:
        names["range"] = bounded_range

    code = compile(ast.Expression(node), frame.source.text.filename, "eval")

    def run() -> Any:
        value = eval(code, names)  # noqa: S307 (the kernel's own text, on known values)
        return list(value) if isinstance(node, ast.GeneratorExp) else value

    return evaluate_in_python(frame, run, node, reads=(code, *names.values()))


_PYTHON_ONLY: dict[type[ast.expr], str] = {
    ast.ListComp: "list comprehensions",
    ast.SetComp: "set comprehensions",
    ast.DictComp: "dict comprehensions",
    ast.GeneratorExp: "generator expressions",
    ast.Dict: "dicts",
    ast.Set: "sets",
}


def _named(frame: Frame, name: str, at: ast.expr) -> Value:
    """The value a name has here."""
    if name in frame.analysis.names or name in frame.outer:
        return _visible(frame, name, at) or POISON
    value, _ = outside_name(frame, (name,), at)
    return from_python(frame, value, at)


@lowers_expression(ast.NamedExpr)
def lower_walrus(frame: Frame, node: ast.NamedExpr) -> Value:
    """`(name := value)`."""
    value = lower_expression(frame, node.value)
    variable = frame.analysis.variables[node.target]
    assign(frame, variable, value, node)
    return read(frame, variable, node.target)


@lowers_expression(ast.Lambda)
def lower_lambda(frame: Frame, node: ast.Lambda) -> Value:
    """A function written where it is used."""
    return local_function(frame, node)


def local_function(frame: Frame, node: ast.FunctionDef | ast.Lambda) -> LocalFunction:
    """A function inside the kernel; what it reads of the kernel's variables is read at calls."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults,
                  strict=True)]  # fmt: skip
    pairs += [(name, value) for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults,
                                                   strict=True) if value is not None]  # fmt: skip
    defaults = {name.arg: lower_expression(frame, value) for name, value in pairs}
    names = sorted(free_names(node))

    def captured() -> dict[str, Value]:
        found = {name: _visible(frame, name, node) for name in names}
        return {
            name: Known(RECURSION) if _is_itself(value, node) else value
            for name, value in found.items()
            if value is not None
        }

    return LocalFunction(node, frame.source, defaults, captured)


def _is_itself(value: Value | None, node: ast.AST) -> bool:
    return isinstance(value, LocalFunction) and value.node is node


def _visible(frame: Frame, name: str, at: ast.AST) -> Value | None:
    """The value a variable of that name has now, if it has one."""
    if name in frame.outer:
        return frame.outer[name]
    if name not in frame.analysis.names:
        return None
    for variable in frame.bindings:
        if variable.name == name and is_assigned(frame, variable):
            return read(frame, variable, at)
    return None


@lowers_expression(ast.Starred)
def lower_starred(frame: Frame, node: ast.Starred) -> Value:
    """A star stands only in calls and tuples."""
    raise frame.error(CubeSyntaxError, "a starred expression here", node, "write the elements out")
