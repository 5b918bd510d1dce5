"""Example arguments for a kernel, from annotations and a written signature: nothing is launched.

`x=f32[:,:], n=i32, TILE=16`: arrays of a type and rank, scalars of a type, or literals; `f=square`
is what the kernel's file calls so, `f=my.functions:square` what another module does. Parameters
whose annotation tells may be left out; what neither tells is assumed from what the kernel does with
them, and said.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import numpy as np

from cubepy import frontend, ir
from cubepy.errors import CubeError
from cubepy.inspection.usage import axes_of_arrays
from cubepy.records import dataclass

__all__ = ["Examples", "example_arguments"]

_ARRAY = re.compile(r"(?P<element>\w+)\s*\[(?P<axes>[\s:,]*)\]")
# Elements along each axis of an example array; no kernel is specialised for it.
EXTENT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """An example of every argument, by name, and what was assumed of them, in sentences."""

    values: dict[str, Any]
    assumed: tuple[str, ...]


def example_arguments(source: frontend.KernelSource, signature: str) -> Examples:
    """An example of every argument, from `signature`, or else the annotation and the use."""
    written = _written(signature)
    unknown = sorted(set(written) - set(source.signature.parameters))
    if unknown:
        raise CubeError(f"{source.name} has no parameter {unknown[0]!r}")
    used = axes_of_arrays(source)
    values: dict[str, Any] = {}
    assumed: dict[str, list[str]] = {}
    for name, parameter in source.signature.parameters.items():
        if name in written:
            values[name] = _example(source, name, written[name])
        elif parameter.default is parameter.empty:
            annotation = frontend.annotation_of(source.annotations.get(name, parameter.empty))
            values[name] = _annotated(name, annotation, used)
            for part, each in _assumed(name, annotation, used):
                assumed.setdefault(each, []).append(part)
    told = tuple(f"{', '.join(names)}: {each}" for each, names in assumed.items())
    return Examples(values=values, assumed=told)


def _assumed(
    name: str, annotation: frontend.Annotation, used: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    """What an annotation leaves open and an example has to choose, with the name of the part."""
    for part, inner in frontend.parts_of(annotation):
        yield from _assumed(f"{name}.{part}", inner, used)
    if annotation.kind not in ("array", "tensor", "generic", "none"):
        return
    if annotation.element is None:
        yield name, "f32"
    axes = used.get(name, 0)
    if annotation.kind == "tensor" and not axes:
        yield name, "2 axes"
    elif annotation.kind in ("tensor", "none"):
        yield name, f"{axes} ax{'is' if axes == 1 else 'es'} as subscripted"


# Text in quotes and in brackets holds together; one level of brackets is enough for a signature.
_ENTRY = re.compile(r"""(?:'[^']*'|"[^"]*"|[\[(][^\])]*[\])]|[^,'"\[(])+""")


def _written(signature: str) -> dict[str, str]:
    """`x=f32[:,:], n=4` by name."""
    pairs = (entry.partition("=") for entry in _ENTRY.findall(signature) if entry.strip())
    return {name.strip(): text.strip() for name, _, text in pairs}


def _example(source: frontend.KernelSource, name: str, text: str) -> Any:
    array = _ARRAY.fullmatch(text)
    if array is not None and array["element"] in ir.SCALARS:
        rank = len(array["axes"].split(","))
        return np.zeros((EXTENT,) * rank, ir.SCALARS[array["element"]].numpy)
    if text in ir.SCALARS:
        return ir.SCALARS[text].numpy.type(1)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return _named(source, name, text)


_NAME = re.compile(r"(?:([^\W\d][\w.]*):)?([^\W\d][\w.]*)")


def _named(source: frontend.KernelSource, name: str, text: str) -> Any:
    """What `square` or `my.functions:square` stands for, the first where the kernel is."""
    written = _NAME.fullmatch(text)
    try:
        if written is None:
            raise LookupError
        module, path = written.groups()
        around = frontend.names_around(source.function)
        found: Any = (
            SimpleNamespace(**around) if module is None else importlib.import_module(module)
        )
        return attrgetter(path)(found)
    except (LookupError, ImportError, AttributeError) as error:
        why = f" ({error})" if isinstance(error, ImportError) else ""
        raise CubeError(
            f"{name}={text}: expects an array such as f32[:,:], a type such as i32, a literal, or "
            f"what a name stands for{why}\n  help: {name}=square is what the kernel's file calls "
            f"so, {name}=my.functions:square what another module does"
        ) from error


def _annotated(name: str, annotation: frontend.Annotation, used: Mapping[str, int]) -> Any:
    """An example of what an annotation says; `used`: the axes that the kernel subscripts, if any.

    Where no type is said it is f32.
    """
    element, axes = annotation.element, used.get(name, 0)
    if annotation.kind in ("array", "tensor") or (annotation.kind == "none" and axes):
        rank = 1 if annotation.kind == "array" else axes or 2
        return np.zeros((EXTENT,) * rank, (element or ir.F32).numpy)
    if annotation.kind in ("scalar", "generic"):
        return (element or ir.F32).numpy.type(1)
    inner = frontend.parts_of(annotation)
    parts = [_annotated(f"{name}.{part}", each, used) for part, each in inner]
    if annotation.kind == "struct":
        return annotation.structure(*parts)
    if annotation.kind in ("tuple", "vector"):
        return tuple(parts)
    raise CubeError(
        f"nothing tells what {name} is: {_UNTOLD.get(annotation.kind, 'its annotation does not')}\n"
        f"  help: give it in the signature, as in {_told(name, annotation)}, or inspect with "
        "arguments"
    )


def _told(name: str, annotation: frontend.Annotation) -> str:
    """How a signature may say it."""
    if annotation.kind == "comptime" and annotation.wanted in (Any, object):
        return f"'{name}=16', '{name}=function' or '{name}=module:function'"
    return f"'{name}={16 if annotation.kind == 'comptime' else 'i32'}'"


_UNTOLD = {"comptime": "its value is compiled in", "none": "it has no annotation"}
