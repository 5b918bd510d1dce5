"""Parameters of a kernel as a launch fills them: a struct or a tuple is a leaf for each part.

The leaves of a parameter `p` are called `p.x`, `p.position.y`; a parameter that is no struct or
tuple is its own only leaf.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cubepy.errors import ArgumentError
from cubepy.frontend.annotations import Annotation, annotation_of, parts_of
from cubepy.frontend.source import KernelSource
from cubepy.frontend.values import StructValue, TupleValue, Value, VectorValue
from cubepy.records import dataclass

__all__ = [
    "Leaf",
    "annotations_of",
    "assembled",
    "is_structured",
    "leaves_of",
    "structures_of",
    "taken_apart",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A part of a parameter that is a number, an array or a comptime value."""

    name: str
    parameter: str
    annotation: Annotation


_LEAVES: weakref.WeakKeyDictionary[KernelSource, tuple[Leaf, ...]] = weakref.WeakKeyDictionary()


def annotations_of(source: KernelSource) -> Iterator[tuple[str, Annotation]]:
    """Each parameter with its annotation."""
    for name in source.signature.parameters:
        yield name, annotation_of(source.annotations.get(name, inspect.Parameter.empty))


def leaves_of(source: KernelSource) -> tuple[Leaf, ...]:
    """The leaves of all parameters in order."""
    known = _LEAVES.get(source)
    if known is None:
        known = _LEAVES[source] = tuple(
            Leaf(name=leaf, parameter=name, annotation=part)
            for name, annotation in annotations_of(source)
            for leaf, part in _leaves(name, annotation)
        )
    return known


def _is_group(annotation: Annotation) -> bool:
    return annotation.kind in ("struct", "tuple", "vector")


def _leaves(name: str, annotation: Annotation) -> Iterator[tuple[str, Annotation]]:
    if not _is_group(annotation):
        yield name, annotation
    for part, inner in parts_of(annotation):
        yield from _leaves(f"{name}.{part}", inner)


def is_structured(source: KernelSource) -> bool:
    """Whether some parameter is a struct or a tuple."""
    return any(_is_group(annotation) for _, annotation in annotations_of(source))


def structures_of(source: KernelSource) -> tuple[type, ...]:
    """The classes of the parameters that are structs."""
    return tuple(each.structure for _, each in annotations_of(source) if each.kind == "struct")


def taken_apart(source: KernelSource, name: str, value: object) -> dict[str, object]:
    """An argument by leaf; an ArgumentError where it is not of the parameter's kind."""
    annotation = annotation_of(source.annotations.get(name, inspect.Parameter.empty))
    return _apart(name, annotation, value, f"{source.name}: argument")


def _apart(name: str, annotation: Annotation, value: Any, place: str) -> dict[str, object]:
    if not _is_group(annotation):
        return {name: value}
    parts = parts_of(annotation)
    if annotation.kind != "struct":
        items = _items(name, value, len(parts), place)
    else:
        items = _fields(name, annotation, value, place)
    found: dict[str, object] = {}
    for (part, inner), item in zip(parts, items, strict=True):
        found |= _apart(f"{name}.{part}", inner, item, place)
    return found


def _items(name: str, value: Any, count: int, place: str) -> list[object]:
    several = isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.ndim == 1)
    if not several or len(value) != count:
        shown = f"{len(value)} values" if several else type(value).__name__
        raise ArgumentError(f"{place} {name!r}: expected {count} values, got {shown}")
    return list(value)


def _fields(name: str, annotation: Annotation, value: Any, place: str) -> list[object]:
    structure = annotation.structure
    if not isinstance(value, structure):
        raise ArgumentError(
            f"{place} {name!r}: expected {structure.__name__}, got {type(value).__name__}\n"
            f"  help: pass {structure.__name__}(…)"
        )
    return [getattr(value, part) for part, _ in parts_of(annotation)]


def assembled(name: str, annotation: Annotation, leaf: Callable[[str], Value]) -> Value:
    """The value of a parameter in the kernel, put together from its leaves."""
    if not _is_group(annotation):
        return leaf(name)
    items = tuple(assembled(f"{name}.{part}", inner, leaf) for part, inner in parts_of(annotation))
    if annotation.kind != "struct":
        return TupleValue(items) if annotation.kind == "tuple" else VectorValue(items)
    return StructValue(items, annotation.structure)
