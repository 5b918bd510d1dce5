"""What the words of a launch's argument block are called in a struct that a kernel reads."""

from __future__ import annotations

from collections.abc import Sequence

from cubepy.target import Word, WordKind

__all__ = ["field_of"]

_KINDS = {
    WordKind.CUBE_COUNT: "cube_count_{axis}",
    WordKind.EXTENT: "extent_{axis}",
    WordKind.REPORT: "report",
}


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
