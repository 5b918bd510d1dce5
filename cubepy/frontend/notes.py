"""What a debugger shows of variables that are no single value of the IR: groups, several names of
one value, things known while compiling.

Only a kernel that is lowered to be stepped through has notes: every assignment of such a variable
stores its run-time parts to slots and ends with a slot of no use, at which the name is shown.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from cubepy.frontend.frame import Frame
from cubepy.frontend.shown_views import Show, Unseen, shown_view
from cubepy.frontend.structs import names_of
from cubepy.frontend.values import Group, Known, StructValue, Value, VectorValue
from cubepy.ir import BOOL, Op, Scalar, SlotType, ops
from cubepy.records import dataclass

__all__ = ["Note", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """`show`, of what the slots and memories `parts` are, is what variable `name` is at the slot
    `mark`.
    """

    name: str
    mark: str
    parts: Sequence[str]
    show: Show

    def owns(self, slot: str) -> bool:
        """Whether a slot is there for the note alone."""
        return slot.startswith(self.mark)


def note(frame: Frame, name: str, value: Value, at: ast.AST) -> None:
    """Note what a variable is from here on, if the kernel is to be stepped through."""
    notes = frame.session.notes
    if notes is None or not frame.reachable or _is_seen(name, value):
        return
    leaves: list[Op] = []
    show = _shown(value, leaves)
    if show is _unseen:
        return
    mark = f"_cubepy_note{len(notes)}"  # names that printed IR keeps as they are
    parts: list[str] = []
    for leaf in leaves:
        parts.append(f"{mark}_{len(parts)}" if isinstance(leaf.type, Scalar) else leaf.name)
        if isinstance(leaf.type, Scalar):
            frame.emit(ops.STORE_LOCAL, _slot(frame, parts[-1], leaf.type, at), leaf, at=at)
    _slot(frame, mark, BOOL, at)
    notes.append(Note(name=name, mark=mark, parts=parts, show=show))


def _is_seen(name: str, value: Value) -> bool:
    """Whether the op has that name already; what is read from a slot has the slot's."""
    return isinstance(value, Op) and value.name == name and value.opdef is not ops.LOAD_LOCAL


def _slot(frame: Frame, name: str, type: Scalar, at: ast.AST) -> Op:
    region = frame.builder.current
    return frame.append_to(region, ops.LOCAL, SlotType(type), {"element": type}, at, name=name)


def _shown(value: Value, leaves: list[Op]) -> Show:
    """How a value is made of those of its run-time parts, which are put into `leaves`."""
    if isinstance(value, Op) and isinstance(value.type, Scalar):
        leaves.append(value)
        return next
    if isinstance(value, Known):
        known = value.value
        return lambda values: known
    if isinstance(value, Group):
        items = [_shown(item, leaves) for item in value.items]
        make = _maker(value)
        return lambda values: make([item(values) for item in items])
    return shown_view(value, leaves, lambda inner: _shown(inner, leaves)) or _unseen


def _unseen(values: Iterator[Any]) -> Any:
    return Unseen()


def _maker(group: Group) -> Callable[[list[Any]], Any]:
    if isinstance(group, VectorValue):
        return np.array
    if isinstance(group, StructValue):
        return lambda items: _struct(group, items)
    return getattr(group.maker, "_make", tuple)


def _struct(group: StructValue, items: list[Any]) -> Any:
    """An object of the struct's class as it is, past what its constructor asks for."""
    structure: Any = group.maker
    made = object.__new__(structure)
    for name, item in zip(names_of(structure), items, strict=True):
        object.__setattr__(made, name, item)
    return made
