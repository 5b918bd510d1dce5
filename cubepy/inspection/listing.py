"""Texts as lines with the places they come from: IR, what was emitted, assembly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cubepy.ir import Kernel, print_lines
from cubepy.location import UNKNOWN, Loc
from cubepy.records import dataclass
from cubepy.target import Artifact, MachineCode

__all__ = ["Line", "lines_of_code", "lines_of_kernel", "lines_of_text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a text. `loc` is where it comes from, or UNKNOWN."""

    text: str
    loc: Loc = UNKNOWN

    @property
    def places(self) -> Iterator[tuple[str, int]]:
        """File and line, from the innermost function to the kernel it was called from."""
        loc: Loc | None = self.loc if self.loc.known else None
        while loc is not None:
            yield loc.file, loc.line
            loc = loc.inlined_at


def lines_of_kernel(kernel: Kernel) -> Sequence[Line]:
    """The IR."""
    return [Line(text=text, loc=loc) for text, loc in print_lines(kernel)]


def lines_of_text(artifact: Artifact) -> Sequence[Line]:
    """What was emitted."""
    return _lines(artifact.text, artifact.line_map)


def lines_of_code(code: MachineCode) -> Sequence[Line]:
    """The assembly."""
    return _lines(code.text, code.line_map)


def _lines(text: str, line_map: Mapping[int, Loc]) -> Sequence[Line]:
    return [
        Line(text=line, loc=line_map.get(number, UNKNOWN))
        for number, line in enumerate(text.splitlines(), 1)
    ]
