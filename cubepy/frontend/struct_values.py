"""Structs in kernels: building them, their fields and methods, copies with other fields, equality.

A struct is a group of its fields' values; nothing of it is left in the IR. Named tuples have
methods and properties in the same way.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
from collections.abc import Mapping
from typing import Any

from cubepy.errors import CubeNameError, CubeTypeError, did_you_mean
from cubepy.frontend.annotations import annotation_of, own_variables, parts_of
from cubepy.frontend.calls import (
    Call,
    bind_call,
    call_of,
    calls_classes,
    lowers_builtin,
    required,
)
from cubepy.frontend.captures import function_of
from cubepy.frontend.coercion import Operand, as_condition
from cubepy.frontend.comparisons import compare, compares_groups
from cubepy.frontend.comptime import from_python, known_attribute, known_value
from cubepy.frontend.descriptions import describe
from cubepy.frontend.expressions import reads_attributes
from cubepy.frontend.fitting import fitted, opened, settle
from cubepy.frontend.frame import Frame
from cubepy.frontend.structs import (
    Field,
    fields_of,
    how_to_make,
    names_of,
    written_method,
)
from cubepy.frontend.values import Group, Known, Method, Poison, StructValue, Value, holds_poison
from cubepy.ir import BOOL, Op, Scalar, ops

__all__ = ["of_class"]


# ── building ─────────────────────────────────────────────────────────────────────────────────────


@calls_classes
def build(frame: Frame, target: Any, call: Call) -> Value | None:
    """`Point(x, y)`, `Complex[f32](re, im)`; None for what is no struct."""
    annotation = annotation_of(target)
    if annotation.kind != "struct":
        return None
    if not annotation.arguments:
        annotation = own_variables(annotation.structure)
    structure = annotation.structure
    _refuse_late(frame, structure, call)
    operands = _bound(frame, structure, call)
    generics: dict[str, Scalar] = {}
    parts = parts_of(annotation)
    for operand, (_, part) in zip(operands, parts, strict=True):
        if operand.value not in frame.soft:
            settle(operand.value, part, generics)
    for operand, (_, part) in zip(operands, parts, strict=True):
        settle(operand.value, part, generics)
    items = [
        fitted(frame, operand, part, generics, f"{structure.__name__}: field {name!r}")
        for operand, (name, part) in zip(operands, parts, strict=True)
    ]
    return StructValue(tuple(items), structure)


def _refuse_late(frame: Frame, structure: type, call: Call) -> None:
    """A class derived from a struct, not under `@cb.struct` itself, must be made as structs are."""
    for name in ("__post_init__", "__init__", "__new__"):
        if written_method(structure, name) is not None:
            raise frame.error(
                CubeTypeError,
                f"{structure.__name__} has {name}, which kernels would not run",
                call.node,
                "compute the fields in a classmethod that makes the struct",
            )


def _bound(frame: Frame, structure: type, call: Call) -> list[Operand]:
    """An operand for every field, in order."""
    fields = fields_of(structure)
    by_place = [field.name for field in fields if not field.keyword_only]
    if len(call.positional) > len(by_place):
        raise frame.error(
            CubeTypeError,
            f"{call.name} has {len(by_place)} fields, got {len(call.positional)}",
            call.node,
            how_to_make(structure),
        )
    given = dict(zip(by_place, call.positional, strict=False))
    _add_keywords(frame, fields, given, call.keywords, call)
    for field in fields:
        if field.name not in given and not field.default:
            raise frame.error(
                CubeTypeError,
                f"{call.name}: the field {field.name!r} is missing",
                call.node,
                how_to_make(structure),
            )
    return [
        given[field.name] if field.name in given
        else Operand(from_python(frame, field.default[0], call.node), call.node)
        for field in fields
    ]  # fmt: skip


def _add_keywords(
    frame: Frame,
    fields: tuple[Field, ...],
    given: dict[str, Operand],
    keywords: Mapping[str, Operand],
    call: Call,
) -> None:
    names = [field.name for field in fields]
    for name, operand in keywords.items():
        if name in given:
            raise frame.error(
                CubeTypeError, f"{call.name}: the field {name!r} is given twice", operand.node,
                f"its fields are ({', '.join(names)})",
            )  # fmt: skip
        if name not in names:
            raise frame.error(
                CubeTypeError,
                f"{call.name}: the field {name!r} is unknown",
                operand.node,
                did_you_mean(name, names) or f"its fields are ({', '.join(names)})",
            )
        given[name] = operand


@lowers_builtin(dataclasses.replace)
def lower_replace(frame: Frame, call: Call) -> Value:
    """`dataclasses.replace(p, x=1.0)`: a copy with other fields."""
    (operand,) = bind_call(frame, dataclasses.replace(call, keywords={}), "struct")
    assert operand is not None
    value = opened(frame, operand.value, operand.node)
    if not isinstance(value, StructValue):
        raise frame.error(
            CubeTypeError,
            f"cannot replace fields of {describe(value)}",
            operand.node,
            "it makes a struct from another one",
        )
    fields = fields_of(value.maker)  # type: ignore[arg-type]
    given: dict[str, Operand] = {}
    _add_keywords(frame, fields, given, call.keywords, call)
    old = {field.name: Operand(item, operand.node)
           for field, item in zip(fields, value.items, strict=True)}  # fmt: skip
    made = build(
        frame,
        value.maker,
        Call(call.node, str(value.maker.__name__), (), {**old, **given}),  # type: ignore[union-attr]
    )
    assert made is not None
    return made


# ── attributes ───────────────────────────────────────────────────────────────────────────────────


@reads_attributes
def attribute(frame: Frame, owner: Value, name: str, at: ast.AST) -> Value | None:
    """A field, a property, a method or a constant of the class; None for other values."""
    if not isinstance(owner, Group) or owner.maker is None:
        return None
    names = names_of(owner.maker)
    if name in names:
        return owner.items[names.index(name)]
    frame.session.watch.attribute(owner.maker, name)
    found = inspect.getattr_static(owner.maker, name, None)
    if found is None or name.startswith("__"):
        raise frame.error(
            CubeNameError,
            f"{describe(owner)} has no field or method {name!r}",
            at,
            did_you_mean(name, [*names, *_public(owner.maker)])
            or f"its fields are {', '.join(names) or 'none'}",
        )
    made = of_class(frame, owner, name, found, at)
    if made is not None:
        return made
    return from_python(frame, known_attribute(frame, owner.maker, name, at), at)


def of_class(frame: Frame, owner: Group, name: str, found: Any, at: ast.AST) -> Value | None:
    """What an entry of a class is for an instance: a property's value or a method; else None."""
    if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
        return call_of(frame, Method(found.fget, owner), name, at)
    function = function_of(found)
    return Method(function, owner) if function is not None else None


def _public(cls: Any) -> list[str]:
    return [name for name in dir(cls) if not name.startswith("_")]


# ── equality ─────────────────────────────────────────────────────────────────────────────────────


@compares_groups
def equal(
    frame: Frame, operation: ast.cmpop, left: Operand, right: Operand, at: ast.AST
) -> Value | None:
    """`a == b`, `a != b` of structs of one class: all fields are equal. None for other values."""
    a, b = opened(frame, left.value, left.node), opened(frame, right.value, right.node)
    if not isinstance(a, StructValue) and not isinstance(b, StructValue):
        return None
    alike = isinstance(a, StructValue) and isinstance(b, StructValue) and a.maker is b.maker
    if not alike or not isinstance(operation, ast.Eq | ast.NotEq):
        raise frame.error(
            CubeTypeError,
            f"cannot compare {describe(left.value)} and {describe(right.value)}",
            at,
            "compare their fields" if alike else "compare numbers, or structs of one class",
        )
    assert isinstance(a, Group)
    assert isinstance(b, Group)
    return _all_equal(frame, operation, a, b, at)


def _all_equal(frame: Frame, operation: ast.cmpop, a: Group, b: Group, at: ast.AST) -> Value:
    same: Op | None = None
    for x, y in zip(a.items, b.items, strict=True):
        part = _items_equal(frame, x, y, at)
        if isinstance(part, Poison):
            return part
        found = as_condition(frame, part, at)
        made = frame.const(BOOL, found, at) if isinstance(found, bool) else found
        same = made if same is None else frame.emit(ops.BIT_AND, same, made, at=at)
    if same is None:
        return Known(isinstance(operation, ast.Eq))
    return same if isinstance(operation, ast.Eq) else frame.emit(ops.BIT_NOT, same, at=at)


def _items_equal(frame: Frame, x: Value, y: Value, at: ast.AST) -> Value:
    if holds_poison(x) or holds_poison(y):
        return x if holds_poison(x) else y
    x, y = opened(frame, x, at), opened(frame, y, at)
    if isinstance(x, Group) and isinstance(y, Group) and len(x.items) == len(y.items):
        return _all_equal(frame, ast.Eq(), x, y, at)
    return compare(frame, ast.Eq(), Operand(x, at), Operand(y, at), at)


# ── which class ──────────────────────────────────────────────────────────────────────────────────


@lowers_builtin(isinstance)
def lower_isinstance(frame: Frame, call: Call) -> Value:
    """`isinstance(p, Point)`: what class a struct or named tuple has is known while compiling."""
    operand, classes = required(frame, call, "object", "class_or_tuple")
    value = operand.value
    wanted = known_value(frame, classes.value)
    made_of = value.maker if isinstance(value, Group) else None
    if not isinstance(made_of, type) or not isinstance(wanted, type | tuple):
        raise frame.error(
            CubeTypeError,
            f"isinstance of {describe(value)}",
            call.node,
            "only structs have classes here; choose by a Comptime argument",
        )
    frame.session.watch.line(made_of)
    return Known(issubclass(made_of, wanted))
