"""The machine code of an artifact, for people: its text, where each line comes from, its size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cubepy.location import Loc
from cubepy.records import dataclass

__all__ = ["CodeLoop", "MachineCode"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeLoop:
    """A loop of machine code: the lines of its instructions, those of loops inside it included.

    `edges`: it is run only by units at the edges of a launch; loops round it do not count it among
    their own. `innermost`: no loop stands in it, but for those.
    """

    lines: tuple[int, ...]
    depth: int
    edges: bool
    innermost: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MachineCode:
    """`text` is assembly; `line_map` maps its lines, counted from 1, to places in the kernel.

    `loops` are in the order in which they begin. `code_bytes` are those of the kernel's own
    function. `spills` and `reloads` count registers that went to the stack and back,
    `vector_registers` those in use.
    """

    text: str
    line_map: Mapping[int, Loc]
    loops: Sequence[CodeLoop]
    instructions: int
    code_bytes: int
    spills: int
    reloads: int
    vector_registers: int

    def __repr__(self) -> str:
        sizes = f"{self.instructions:,} instructions, {self.code_bytes:,} bytes"
        return f"<machine code: {sizes}, {len(self.loops)} loops; its text has them>"
