"""The machine code of an artifact, for people: its text, where each line comes from, its size."""

from __future__ import annotations

from collections.abc import Mapping

from cubepy.location import Loc
from cubepy.records import dataclass

__all__ = ["MachineCode"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCode:
    """`text` is assembly; `line_map` maps its lines, counted from 1, to places in the kernel.

    `code_bytes` are those of the kernel's own function. `spills` and `reloads` count registers that
    went to the stack and back, `vector_registers` those in use.
    """

    text: str
    line_map: Mapping[int, Loc]
    instructions: int
    code_bytes: int
    spills: int
    reloads: int
    vector_registers: int
