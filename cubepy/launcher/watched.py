"""The captured names of a kernel as variables to watch: a changed one makes another kernel."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from cubepy import frontend
from cubepy.records import dataclass

__all__ = ["DELETED", "Watched", "watch"]

_Names = dict[tuple[int, str], tuple[Mapping[str, Any], str, Any]]
_Cells = dict[int, tuple[types.CellType, Any]]
#: What a name holds that is gone.
DELETED = object()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Watched:
    """Variables of modules (a namespace and a name) and of closures, with what they held."""

    names: tuple[tuple[Mapping[str, Any], str, Any], ...]
    cells: tuple[tuple[types.CellType, Any], ...]

    def unchanged(self) -> bool:
        """Whether each still holds that very object. An equal one counts as a change."""
        for namespace, name, value in self.names:
            if namespace.get(name, DELETED) is not value:
                return False
        return not self.cells or self.cells_unchanged()

    def cells_unchanged(self) -> bool:
        """Whether the variables of closures do."""
        return all(_content(cell) is value for cell, value in self.cells)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # deleted since
        return DELETED


def watch(captures: frontend.Captures) -> Watched:
    """The variables that captured values were read from."""
    names: _Names = {}
    cells: _Cells = {}
    for function, values in captures.values.items():
        closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for path, captured in values.items():
            _add(path, captured, function.__globals__, closure, names, cells)
    return Watched(names=tuple(names.values()), cells=tuple(cells.values()))


def _add(
    path: tuple[str, ...],
    captured: Any,
    namespace: Mapping[str, Any],
    closure: Mapping[str, types.CellType],
    names: _Names,
    cells: _Cells,
) -> None:
    """Watch what a dotted name leads through; its last part held `captured`."""
    root, *inner = path
    if root in closure:
        value = closure[root].cell_contents if inner else captured
        cells[id(closure[root])] = (closure[root], value)
    else:
        value = namespace[root] if inner else captured
        names[id(namespace), root] = (namespace, root, value)
    for number, name in enumerate(inner, start=1):
        holder = vars(value)
        value = captured if number == len(inner) else getattr(value, name)
        names[id(holder), name] = (holder, name, value)
