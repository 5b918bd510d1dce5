"""Parameters of a kernel as a launch fills them: a struct or a tuple is a leaf for each part.

The leaves of a parameter `p` are called `p.x`, `p.position.y`; a parameter that is no struct or
tuple is its own only leaf.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from cubepy.errors import ArgumentError
from cubepy.frontend.annotations import Annotation, annotation_of, parts_of
from cubepy.frontend.source import KernelSource
from cubepy.frontend.vector_types import HostVector
from cubepy.records import dataclass

__all__ = [
    "Leaf",
    "annotations_of",
    "is_group",
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


def is_group(annotation: Annotation) -> bool:
    """Whether an argument of this kind is taken apart."""
    return annotation.kind in ("struct", "tuple", "vector")


def _leaves(name: str, annotation: Annotation) -> Iterator[tuple[str, Annotation]]:
    if not is_group(annotation):
        yield name, annotation
    for part, inner in parts_of(annotation):
        yield from _leaves(f"{name}.{part}", inner)


def is_structured(source: KernelSource) -> bool:
    """Whether some parameter is a struct or a tuple."""
    return any(is_group(annotation) for _, annotation in annotations_of(source))


def structures_of(source: KernelSource) -> tuple[type, ...]:
    """The classes of the parameters that are structs."""
    return tuple(each.structure for _, each in annotations_of(source) if each.kind == "struct")


def taken_apart(source: KernelSource, name: str, value: object) -> dict[str, object]:
    """An argument by leaf; an ArgumentError where it is not of the parameter's kind."""
    known = _PARTS.get(source)
    if known is None:
        known = _PARTS[source] = {
            each: _part(each, annotation) for each, annotation in annotations_of(source)
        }
    found: dict[str, object] = {}
    known[name].take(value, found, source.name)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A parameter or a part of one, with how to get at its own parts: by field, or by number."""

    name: str
    structure: Any
    fields: tuple[str, ...]
    parts: tuple[_Part, ...]
    leaf: bool

    def take(self, value: Any, found: dict[str, object], kernel: str) -> None:
        """Put the leaves of a value into `found`."""
        if self.leaf:
            found[self.name] = value
            return
        if self.structure is None:
            items = self._items(value, kernel)
        elif isinstance(value, self.structure):
            items = [getattr(value, field) for field in self.fields]
        else:
            wanted = self.structure.__name__
            made = f"{wanted}.of" if hasattr(self.structure, "of") else wanted
            raise ArgumentError(
                f"{kernel}: argument {self.name!r}: expected {wanted}, got {type(value).__name__}\n"
                f"  help: pass {made}(…)"
            )
        for part, item in zip(self.parts, items, strict=True):
            part.take(item, found, kernel)

    def _items(self, value: Any, kernel: str) -> Any:
        if isinstance(value, HostVector):
            value = [item.item() for item in value]  # Python's numbers take the short way
        several = isinstance(value, tuple | list) or (
            isinstance(value, np.ndarray) and value.ndim == 1
        )
        if several and len(value) == len(self.parts):
            return value
        shown = f"{len(value)} values" if several else type(value).__name__
        count = len(self.parts)
        raise ArgumentError(
            f"{kernel}: argument {self.name!r}: expected {count} values, got {shown}\n"
            f"  help: pass a tuple of {count} numbers"
        )


_PARTS: weakref.WeakKeyDictionary[KernelSource, dict[str, _Part]] = weakref.WeakKeyDictionary()


def _part(name: str, annotation: Annotation) -> _Part:
    inner = parts_of(annotation)
    return _Part(
        name=name,
        structure=annotation.structure,
        fields=tuple(field for field, _ in inner),
        parts=tuple(_part(f"{name}.{field}", part) for field, part in inner),
        leaf=not is_group(annotation),
    )
