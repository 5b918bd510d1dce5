"""What parameters are called, and the words of a launch's argument block in a struct of it."""

from __future__ import annotations

from collections.abc import Sequence

from cubepy.codegen.structured.names import Names
from cubepy.ir import BufferType, Op
from cubepy.target import Word, WordKind

__all__ = ["field_of", "name_parameters"]

_KINDS = {
    WordKind.CUBE_COUNT: "cube_count_{axis}",
    WordKind.EXTENT: "extent_{axis}",
    WordKind.REPORT: "report",
}


def name_parameters(names: Names, params: Sequence[Op]) -> list[str]:
    """Names of parameters. Those of arrays come first: of each a name with `_offset` and the like
    behind it is nobody's either.
    """
    for kind in _KINDS.values():
        for axis in "xyz":
            names.reserve(kind.format(axis=axis))
    named = {param: names.family(param.name, _endings(param)) for param in _arrays(params)}
    return [named[param] if param in named else names.fresh(param.name) for param in params]


def _arrays(params: Sequence[Op]) -> list[Op]:
    return [param for param in params if isinstance(param.type, BufferType)]


def _endings(param: Op) -> list[str]:
    assert isinstance(param.type, BufferType)
    axes = range(param.type.rank)
    sizes = [f"_{kind}_{axis}" for axis in axes for kind in ("shape", "stride")]
    return ["_offset", "_start", *sizes]


def field_of(word: Word, params: Sequence[str]) -> str:
    """The name of a word; `params` are those of the kernel's parameters."""
    if word.kind in _KINDS:
        return _KINDS[word.kind].format(axis="xyz"[word.axis])
    name = params[word.argument]
    match word.kind:
        case WordKind.POINTER:
            return f"{name}_offset"
        case WordKind.SHAPE:
            return f"{name}_shape_{word.axis}"
        case WordKind.STRIDE:
            return f"{name}_stride_{word.axis}"
        case _:
            return name
