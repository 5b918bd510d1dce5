"""Example arguments for a kernel, from annotations and a written signature: nothing is launched.

`x=f32[:,:], n=i32, TILE=16`: arrays of a type and rank, scalars of a type, or literals. Parameters
whose annotation tells may be left out.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from cubepy import frontend, ir
from cubepy.errors import CubeError

__all__ = ["example_arguments"]

_ARRAY = re.compile(r"(?P<element>\w+)\s*\[(?P<axes>[\s:,]*)\]")
# Elements along each axis of an example array; no kernel is specialised for it.
EXTENT = 4


def example_arguments(source: frontend.KernelSource, signature: str) -> dict[str, Any]:
    """An example of every argument, from `signature` or else from the annotation."""
    written = _written(signature)
    unknown = sorted(set(written) - set(source.signature.parameters))
    if unknown:
        raise CubeError(f"{source.name} has no parameter {unknown[0]!r}")
    values: dict[str, Any] = {}
    for name, parameter in source.signature.parameters.items():
        if name in written:
            values[name] = _example(name, written[name])
        elif parameter.default is parameter.empty:
            values[name] = _annotated(name, frontend.annotation_of(source.annotations.get(name)))
    return values


# Text in quotes and in brackets holds together; one level of brackets is enough for a signature.
_ENTRY = re.compile(r"""(?:'[^']*'|"[^"]*"|[\[(][^\])]*[\])]|[^,'"\[(])+""")


def _written(signature: str) -> dict[str, str]:
    """`x=f32[:,:], n=4` by name."""
    pairs = (entry.partition("=") for entry in _ENTRY.findall(signature) if entry.strip())
    return {name.strip(): text.strip() for name, _, text in pairs}


def _example(name: str, text: str) -> Any:
    array = _ARRAY.fullmatch(text)
    if array is not None and array["element"] in ir.SCALARS:
        rank = len(array["axes"].split(","))
        return np.zeros((EXTENT,) * rank, ir.SCALARS[array["element"]].numpy)
    if text in ir.SCALARS:
        return ir.SCALARS[text].numpy.type(1)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError) as error:
        raise CubeError(
            f"{name}={text}: expects an array such as f32[:,:], a type such as i32, or a literal"
        ) from error


def _annotated(name: str, annotation: frontend.Annotation) -> Any:
    element = ir.F32 if annotation.variable is not None else annotation.element
    if element is not None and annotation.kind in ("array", "tensor"):
        return np.zeros((EXTENT,) * (1 if annotation.kind == "array" else 2), element.numpy)
    if element is not None and annotation.kind in ("scalar", "generic"):
        return element.numpy.type(1)
    parts = [_annotated(f"{name}.{part}", inner) for part, inner in frontend.parts_of(annotation)]
    if annotation.kind == "struct":
        return annotation.structure(*parts)
    if annotation.kind in ("tuple", "vector"):
        return tuple(parts)
    raise CubeError(f"its annotation does not tell what {name} is: give it in the signature")
