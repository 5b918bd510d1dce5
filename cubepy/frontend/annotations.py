"""Annotations taken apart: what a parameter, a field or a variable says it wants."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from typing import Any

from cubepy.frontend.lang import Array, Comptime, Tensor
from cubepy.frontend.scalars import scalar_of
from cubepy.frontend.stored_formats import StoredFormat
from cubepy.frontend.structs import fields_of, is_struct
from cubepy.frontend.vector_types import VectorType
from cubepy.ir import Scalar
from cubepy.records import dataclass, field, replace

__all__ = ["Annotation", "annotation_of", "is_comptime", "own_variables", "parts_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """An annotation taken apart.

    `kind`: none, scalar, array, tensor, comptime, generic, struct, tuple, vector, other. `element`
    is the scalar or the element, `format` what elements are stored in that are no scalars;
    `variable` a type variable in its place. `structure` is the class
    of a struct, `arguments` what its own type variables stand for; `parts` are the items of a
    tuple, `count` is the number of a vector's. `wanted` is the type of a comptime value, `written`
    an annotation that means nothing here.
    """

    kind: str
    element: Scalar | None = None
    format: StoredFormat | None = None
    variable: Any = None
    structure: Any = None
    arguments: Mapping[str, Annotation] = field(default_factory=dict)
    parts: tuple[Annotation, ...] = ()
    count: int = 0
    wanted: Any = Any
    written: Any = None


_MEMORIES = {Array: "array", Tensor: "tensor"}


def is_comptime(annotation: object) -> bool:
    """Whether an annotation is `Comptime` or `Comptime[T]`."""
    return annotation is Comptime or typing.get_origin(annotation) is Comptime


def annotation_of(annotation: object) -> Annotation:
    """Take an annotation apart."""
    if annotation is inspect.Parameter.empty or annotation is Any:
        return Annotation(kind="none")
    if is_comptime(annotation):
        return Annotation(kind="comptime", wanted=next(iter(typing.get_args(annotation)), Any))
    if isinstance(annotation, VectorType):
        return _vector(annotation)
    origin = typing.get_origin(annotation) or annotation
    if isinstance(origin, type) and origin in _MEMORIES:
        return _memory(_MEMORIES[origin], annotation)
    if isinstance(annotation, typing.TypeVar):
        return Annotation(kind="generic", variable=annotation)
    if is_struct(origin):
        return _struct(origin, typing.get_args(annotation))
    if origin is tuple:
        return _tuple(typing.get_args(annotation))
    scalar = scalar_of(annotation)
    if scalar is None:
        return Annotation(kind="other", written=annotation)
    return Annotation(kind="scalar", element=scalar)


def _memory(kind: str, annotation: Any) -> Annotation:
    arguments = typing.get_args(annotation)
    if not arguments:
        return Annotation(kind=kind)
    if isinstance(arguments[0], typing.TypeVar):
        return Annotation(kind=kind, variable=arguments[0])
    if isinstance(arguments[0], StoredFormat):
        return Annotation(kind=kind, element=arguments[0].element, format=arguments[0])
    element = scalar_of(arguments[0])
    if element is None:
        return Annotation(kind="other", written=annotation)
    return Annotation(kind=kind, element=element)


def _vector(annotation: VectorType) -> Annotation:
    if isinstance(annotation.element, Scalar):
        return Annotation(kind="vector", element=annotation.element, count=annotation.count)
    return Annotation(kind="vector", variable=annotation.element, count=annotation.count)


def _struct(structure: Any, arguments: tuple[Any, ...]) -> Annotation:
    variables = getattr(structure, "__parameters__", ())
    given = {
        variable.__name__: annotation_of(argument)
        for variable, argument in zip(variables, arguments, strict=False)
    }
    return Annotation(kind="struct", structure=structure, arguments=given)


def _tuple(arguments: tuple[Any, ...]) -> Annotation:
    if not arguments or Ellipsis in arguments:
        return Annotation(kind="none")
    return Annotation(kind="tuple", parts=tuple(annotation_of(each) for each in arguments))


def own_variables(cls: Any) -> Annotation:
    """A struct's class as an annotation, its type variables standing for themselves."""
    variables = getattr(cls, "__parameters__", ())
    given = {each.__name__: Annotation(kind="generic", variable=each) for each in variables}
    return Annotation(kind="struct", structure=cls, arguments=given)


def parts_of(annotation: Annotation) -> tuple[tuple[str, Annotation], ...]:
    """Names and annotations of what a struct, a tuple or a vector consists of."""
    if annotation.kind == "vector":
        kind = "generic" if annotation.element is None else "scalar"
        item = Annotation(kind=kind, element=annotation.element, variable=annotation.variable)
        return tuple((f"_{number}", item) for number in range(annotation.count))
    if annotation.kind == "tuple":
        return tuple((f"_{number}", part) for number, part in enumerate(annotation.parts))
    if annotation.kind == "struct":
        return tuple(
            (each.name, _substituted(annotation_of(each.annotation), annotation.arguments))
            for each in fields_of(annotation.structure)
        )
    return ()


def _substituted(annotation: Annotation, given: Mapping[str, Annotation]) -> Annotation:
    """An annotation with type variables replaced by what they stand for."""
    if not given:
        return annotation
    found = given.get(getattr(annotation.variable, "__name__", ""))
    if annotation.kind == "generic":
        return found or annotation
    if annotation.kind == "struct":
        inner = {name: _substituted(each, given) for name, each in annotation.arguments.items()}
        return replace(annotation, arguments=inner)
    if annotation.kind == "tuple":
        return replace(
            annotation, parts=tuple(_substituted(each, given) for each in annotation.parts)
        )
    if found is not None:
        return replace(annotation, element=found.element, variable=found.variable)
    return annotation
