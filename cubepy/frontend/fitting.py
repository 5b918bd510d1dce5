"""Arguments, fields and annotated variables brought to what their annotations want."""

from __future__ import annotations

import ast
from collections.abc import Mapping, MutableMapping
from typing import Any

from cubepy.errors import ComptimeError, CubeTypeError
from cubepy.frontend.annotations import Annotation, annotation_of, parts_of
from cubepy.frontend.arrays import element_of_array, rank_of
from cubepy.frontend.coercion import Operand, as_type
from cubepy.frontend.comptime import UNKNOWN_VALUE, from_python, known_value
from cubepy.frontend.comptime_types import is_of_type, type_name
from cubepy.frontend.descriptions import counted, describe, snippet
from cubepy.frontend.frame import Frame
from cubepy.frontend.scalars import mismatch
from cubepy.frontend.structs import is_struct
from cubepy.frontend.values import (
    ArrayValue,
    Group,
    Known,
    LocalFunction,
    StructValue,
    TupleValue,
    Value,
    VectorValue,
    as_array,
    format_of,
    with_items,
)
from cubepy.frontend.vector_types import HostVector
from cubepy.ir import Scalar

__all__ = ["fitted", "opened", "settle"]

Generics = MutableMapping[str, Scalar]


def settle(value: Value, annotation: Annotation, generics: Generics) -> None:
    """Let a typed value decide what the type variables of its annotation stand for."""
    if annotation.kind in ("tuple", "vector") or annotation.arguments:
        items = value.items if isinstance(value, Group) else ()
        for item, (_, part) in zip(items, parts_of(annotation), strict=False):
            settle(item, part, generics)
        return
    array = as_array(value)
    element = getattr(value, "type", None) if array is None else element_of_array(array)
    if annotation.variable is not None and isinstance(element, Scalar):
        generics.setdefault(annotation.variable.__name__, element)


def fitted(
    frame: Frame, operand: Operand, annotation: Annotation, generics: Mapping[str, Scalar],
    what: str,
) -> Value:  # fmt: skip
    """A value as its annotation wants it. `what` begins the message if it does not fit."""
    match annotation.kind:
        case "comptime":
            return _comptime(frame, operand, annotation.wanted, what)
        case "scalar" | "generic":
            return _scalar(frame, operand, annotation, generics, what)
        case "array" | "tensor":
            _check_memory(frame, operand, annotation, generics, what)
        case "struct":
            return _struct(frame, operand, annotation, generics, what)
        case "vector":
            return _vector(frame, operand, annotation, generics, what)
        case "tuple":
            return _tuple(frame, operand, annotation, generics, what)
    return operand.value


def _comptime(frame: Frame, operand: Operand, wanted: Any, what: str) -> Value:
    found = known_value(frame, operand.value, plane=True)
    if found is UNKNOWN_VALUE and not isinstance(operand.value, LocalFunction):
        raise frame.error(
            ComptimeError,
            f"{what} must be known while compiling",
            operand.node,
            "pass a literal, a captured constant or a Comptime parameter",
        )
    if found is UNKNOWN_VALUE:
        return operand.value
    if not is_of_type(found, wanted):
        raise frame.error(
            CubeTypeError,
            f"{what}: expected {type_name(wanted)}, got {describe(Known(found))}",
            operand.node,
            f"pass a value of the type that Comptime[{type_name(wanted)}] names",
        )
    return Known(found, kept=True)


def _scalar(
    frame: Frame, operand: Operand, annotation: Annotation, generics: Mapping[str, Scalar],
    what: str,
) -> Value:  # fmt: skip
    wanted = annotation.element
    if annotation.kind == "generic":
        wanted = generics.get(annotation.variable.__name__)
        wrong = "" if wanted is None else mismatch(annotation.variable, wanted)
        if wrong:
            help = "convert it, or widen the type variable"
            raise frame.error(CubeTypeError, f"{what}: {wrong}", operand.node, help)
    if wanted is None:
        return operand.value
    return as_type(frame, operand.value, wanted, operand.node, what=what)


def _check_memory(
    frame: Frame, operand: Operand, annotation: Annotation, generics: Mapping[str, Scalar],
    what: str,
) -> None:  # fmt: skip
    value = operand.value
    if annotation.variable is not None and annotation.variable.__name__ in generics:
        wrong = mismatch(annotation.variable, generics[annotation.variable.__name__])
        if wrong:
            help = "pass an array of another type, or widen the type variable"
            raise frame.error(CubeTypeError, f"{what}: {wrong}", operand.node, help)
    element: object = annotation.element or generics.get(
        getattr(annotation.variable, "__name__", "")
    )
    found = as_array(value)
    rank = 0 if found is None else rank_of(found)
    if found is not None:
        fits = element is None or element_of_array(found) == element
        if annotation.format is not None or (annotation.element and format_of(found)):
            fits = format_of(found) == annotation.format
            element = annotation.format.name if annotation.format is not None else element
        if fits and (annotation.kind == "tensor" or rank == 1):
            return
    axes = f" with {counted(rank, 'axis', 'axes')}" if found is not None else ""
    only = " with 1 axis" if annotation.kind == "array" else ""
    array = operand.node.value if isinstance(operand.node, ast.Subscript) else None
    raise frame.error(
        CubeTypeError,
        f"{what}: expected an array of {element or 'anything'}{only}, got {describe(value)}{axes}",
        operand.node,
        "annotate it as Tensor[T] if it has more axes" if rank > 1
        else f"pass the array: {snippet(array)}" if array is not None
        else _other_array(found, element),
    )  # fmt: skip


def _other_array(found: ArrayValue | None, element: object) -> str:
    """The help where an array of other elements is given, or none at all."""
    if found is None:
        return "pass an array, by its name alone"
    return f"pass an array of {element}, or leave the element open: Array[T] with a TypeVar"


def opened(frame: Frame, value: Value, at: ast.AST) -> Value:
    """A tuple or struct known while compiling as the group of its items; others as they are."""
    if not isinstance(value, Known):
        return value
    python = value.value
    if isinstance(python, HostVector):
        kind = annotation_of(python.type)
        assert kind.element is not None
        return VectorValue(tuple(frame.const(kind.element, item.item(), at) for item in python))
    if isinstance(python, tuple):
        maker = type(python) if hasattr(python, "_fields") else None
        items = tuple(from_python(frame, item, at) for item in python)
        return TupleValue(items, maker)
    if is_struct(type(python)):
        parts = parts_of(Annotation(kind="struct", structure=type(python)))
        frame.session.watch.fields(python)
        operands = [
            (name, part, Operand(from_python(frame, getattr(python, name), at), at))
            for name, part in parts
        ]
        return StructValue(
            tuple(
                fitted(frame, operand, part, {}, f"{type(python).__name__}.{name}")
                for name, part, operand in operands
            ),
            type(python),
        )
    return value


def _struct(
    frame: Frame, operand: Operand, annotation: Annotation, generics: Mapping[str, Scalar],
    what: str,
) -> Value:  # fmt: skip
    value, structure = operand.value, annotation.structure
    if isinstance(value, Known) and isinstance(value.value, structure):
        return value if not annotation.arguments else _parts(
            frame, opened(frame, value, operand.node), operand, annotation, generics, what
        )  # fmt: skip
    if not isinstance(value, StructValue) or not issubclass(value.maker, structure):  # type: ignore[arg-type]
        raise frame.error(
            CubeTypeError,
            f"{what}: expected {structure.__name__}, got {describe(value)}",
            operand.node,
            f"make one: {structure.__name__}(…)",
        )
    if value.maker is not structure or not annotation.arguments:
        return value
    return _parts(frame, value, operand, annotation, generics, what)


def _vector(
    frame: Frame, operand: Operand, annotation: Annotation, generics: Mapping[str, Scalar],
    what: str,
) -> Value:  # fmt: skip
    value = opened(frame, operand.value, operand.node)
    if not isinstance(value, VectorValue) or len(value.items) != annotation.count:
        element = annotation.element or annotation.variable.__name__
        raise frame.error(
            CubeTypeError,
            f"{what}: expected Vector[{element}, {annotation.count}], got "
            f"{describe(operand.value)}",
            operand.node,
            f"make one: Vector[{element}, {annotation.count}](…)",
        )
    return _parts(frame, value, operand, annotation, generics, what)


def _tuple(
    frame: Frame, operand: Operand, annotation: Annotation, generics: Mapping[str, Scalar],
    what: str,
) -> Value:  # fmt: skip
    value = opened(frame, operand.value, operand.node)
    if not isinstance(value, TupleValue) or len(value.items) != len(annotation.parts):
        raise frame.error(
            CubeTypeError,
            f"{what}: expected a tuple of {len(annotation.parts)}, got {describe(operand.value)}",
            operand.node,
            f"put {counted(len(annotation.parts), 'value')} in parentheses",
        )
    return _parts(frame, value, operand, annotation, generics, what)


def _parts(
    frame: Frame, value: Value, operand: Operand, annotation: Annotation,
    generics: Mapping[str, Scalar], what: str,
) -> Value:  # fmt: skip
    """A group with each item as the annotation wants it."""
    assert isinstance(value, Group)
    items = [
        fitted(frame, Operand(item, operand.node), part, generics, f"{what}.{name}")
        for item, (name, part) in zip(value.items, parts_of(annotation), strict=True)
    ]
    return with_items(value, items)
