"""How a launch hands memory to a kernel in WGSL: one binding for each array, or for several.

Arguments that may overlap, one of them written, share a binding, for no memory may be bound twice
where it is written. Binding 0 is the argument block of the `Abi`, followed by the words of
:class:`Extra`; then come the arrays, then the report block where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from cubepy.ir import Access, BufferType
from cubepy.records import dataclass
from cubepy.target.abi import Abi

__all__ = ["ArrayGroup", "Extra", "array_groups"]

_WRITES = (Access.WRITE, Access.READ_WRITE, Access.UNKNOWN)


class Extra(IntEnum):
    """Words of 32 bits behind the argument block: the first cube of a part of a launch, and 0."""

    FIRST_X = 0
    FIRST_Y = 1
    FIRST_Z = 2
    ZERO = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayGroup:
    """Arguments, by their numbers, that lie in one memory."""

    arguments: tuple[int, ...]
    written: bool


def array_groups(abi: Abi, access: Sequence[Access]) -> tuple[ArrayGroup, ...]:
    """The groups in the order of their bindings; arrays that nobody touches are in none."""
    used: dict[int, list[int]] = {}
    for number, (type, how) in enumerate(zip(abi.types, access, strict=True)):
        if isinstance(type, BufferType) and how is not Access.NONE:
            used.setdefault(type.alias, []).append(number)
    groups: list[ArrayGroup] = []
    for members in used.values():
        written = any(access[number] in _WRITES for number in members)
        if written:
            groups.append(ArrayGroup(arguments=tuple(members), written=True))
        else:
            groups += [ArrayGroup(arguments=(each,), written=False) for each in members]
    return tuple(sorted(groups, key=lambda group: group.arguments))
