"""Which functions of which files a kernel is made of, as numbered lines of source.

The kernel comes first, then the helpers that code was made of, the user's before the library's.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterable, Sequence
from pathlib import Path

import cubepy as cb
from cubepy.location import Loc
from cubepy.records import dataclass

__all__ = ["Excerpt", "excerpts"]

_LIBRARY = str(Path(cb.__file__).parent)
Place = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The lines `first` … of one function. `from_std`: it is cubepy's own."""

    file: str
    name: str
    first: int
    lines: tuple[str, ...]
    from_std: bool

    def __contains__(self, place: Place) -> bool:
        return place[0] == self.file and self.first <= place[1] < self.first + len(self.lines)


def excerpts(kernel: Loc, places: Iterable[Place]) -> Sequence[Excerpt]:
    """The functions that these places lie in, each once; the kernel's own first."""
    found: list[Excerpt] = []
    own = (kernel.file, kernel.line)
    for place in (own, *sorted(set(places), key=lambda place: (_is_library(place[0]), place))):
        if not any(place in each for each in found):
            found.append(_excerpt(place))
    return [each for each in found if each.lines]


def _is_library(file: str) -> bool:
    return file.startswith(_LIBRARY)


def _excerpt(place: Place) -> Excerpt:
    file, line = place
    text = linecache.getlines(file)
    name, first, last = _function(file, line)
    lines = tuple(each.rstrip("\n") for each in text[first - 1 : last])
    return Excerpt(file=file, name=name, first=first, lines=lines, from_std=_is_library(file))


def _function(file: str, line: int) -> tuple[str, int, int]:
    """The innermost function round a line: its name, first and last line."""
    for node in _functions(file):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        last = node.end_lineno or node.lineno
        if first <= line <= last:
            return node.name, first, last
    return "", line, line


@functools.cache
def _functions(file: str) -> Sequence[ast.FunctionDef]:
    """Functions of a file, the shortest first: an inner one comes before what holds it."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:  # a notebook's cell, perhaps
        return ()
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return sorted(found, key=lambda node: (node.end_lineno or 0) - node.lineno)
