"""What a kernel's text says of arguments and launches that nobody described.

A parameter that is subscripted with two values is an array with two axes, and a kernel that asks
for positions along y is launched over two. Helpers are looked into with what they are given. This
serves examples alone: a launch knows its arguments.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from cubepy import frontend
from cubepy.errors import CubeError

__all__ = ["axes_of_arrays", "axes_of_launch"]

_AXIS = re.compile(r"(?:ABSOLUTE_POS|CUBE_POS|UNIT_POS|CUBE_DIM|CUBE_COUNT)_([YZ])")
_OF_ARRAYS = ("shape", "strides")


def axes_of_launch(source: frontend.KernelSource) -> int:
    """Along how many axes a kernel and its helpers ask for positions."""
    found = {
        match[1]
        for each in _with_helpers(source)
        for node in ast.walk(each.node)
        if (match := _AXIS.fullmatch(_last_name(node)))
    }
    return 3 if "Z" in found else 2 if "Y" in found else 1


def axes_of_arrays(source: frontend.KernelSource) -> Mapping[str, int]:
    """The axes of each parameter that is used as an array, by name; `world.x` is a field."""
    return _axes(source, ())


def _axes(source: frontend.KernelSource, around: tuple[object, ...]) -> dict[str, int]:
    """`around`: the functions that are being looked into, so that no recursion goes on forever."""
    found: dict[str, int] = {}
    for node in ast.walk(source.node):
        for name, axes in _told(source, node, (*around, source.function)):
            found[name] = max(axes, found.get(name, 0))
    parameters = source.signature.parameters
    return {name: axes for name, axes in found.items() if name.partition(".")[0] in parameters}


def _told(
    source: frontend.KernelSource, node: ast.AST, around: tuple[object, ...]
) -> Iterator[tuple[str, int]]:
    """Names, and how many axes one piece of the program gives them at the least."""
    match node:
        case ast.Subscript(value=ast.Attribute(value=array, attr=part), slice=at) if (
            part in _OF_ARRAYS
        ):
            if isinstance(at, ast.Constant) and type(at.value) is int:
                yield _dotted(array), at.value + 1
        case ast.Subscript(value=array, slice=at):
            yield _dotted(array), _subscripts(at)
        case ast.Assign(
            targets=[ast.Tuple(elts=parts)], value=ast.Attribute(value=array, attr=part)
        ) if part in _OF_ARRAYS:
            yield _dotted(array), sum(not isinstance(each, ast.Starred) for each in parts)
        case ast.Call(args=[array, at, *_]) if _last_name(node.func).startswith("atomic_"):
            yield _dotted(array), _subscripts(at)
        case ast.Call(func=ast.Name(id="len"), args=[array]):
            yield _dotted(array), 1
        case ast.Call():
            yield from _given(source, node, around)


def _given(
    source: frontend.KernelSource, call: ast.Call, around: tuple[object, ...]
) -> Iterator[tuple[str, int]]:
    """What a helper does with the names that it is given."""
    helper = _helper(source, call.func)
    if helper is None or helper.function in around:
        return
    inner, parameters = _axes(helper, around), list(helper.signature.parameters)
    by_place = zip(parameters, call.args, strict=False)
    by_name = ((each.arg, each.value) for each in call.keywords)
    for parameter, value in (*by_place, *by_name):
        for name, axes in inner.items():
            root, dot, fields = name.partition(".")
            if root == parameter and (outer := _dotted(value)):
                yield f"{outer}{dot}{fields}", axes


def _subscripts(at: ast.expr) -> int:
    return len(at.elts) if isinstance(at, ast.Tuple) else 1


def _with_helpers(source: frontend.KernelSource) -> list[frontend.KernelSource]:
    """A kernel and all functions that it reaches by calls, each once."""
    found = [source]
    for each in found:  # grows meanwhile
        for node in ast.walk(each.node):
            helper = _helper(each, node.func) if isinstance(node, ast.Call) else None
            if helper is not None and all(helper.function is not one.function for one in found):
                found.append(helper)
    return found


def _helper(source: frontend.KernelSource, called: ast.expr) -> frontend.KernelSource | None:
    """The source of a function of the user's that a call names."""
    value: object = None
    match called:
        case ast.Name(id=name):
            value = frontend.names_around(source.function).get(name)
        case ast.Attribute(value=ast.Name(id=holder), attr=name):
            value = getattr(frontend.names_around(source.function).get(holder), name, None)
    function = frontend.function_of(value)
    if function is None or function.__module__.partition(".")[0] == "cubepy":
        return None
    try:
        return frontend.source_of(function)
    except (CubeError, SyntaxError):
        return None  # lowering says so


def _dotted(node: ast.AST) -> str:
    """`world.x`; "" for what is no name."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=holder, attr=name) if around := _dotted(holder):
            return f"{around}.{name}"
    return ""


def _last_name(node: ast.AST) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
