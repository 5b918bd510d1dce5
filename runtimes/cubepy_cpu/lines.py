"""Which place of a kernel each instruction in memory belongs to, for those who look at addresses.

The kernel is compiled with locations (see `places.py`), and the line table of its object says from
where on the code is of which place.
"""

from __future__ import annotations

import io
import platform
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from cubepy.errors import RuntimeUnavailable
from cubepy.location import Loc
from cubepy.records import dataclass, replace
from cubepy.target import Artifact
from cubepy_cpu.elf import read_object
from cubepy_cpu.places import with_locations

__all__ = ["COUNTER", "LineTable", "line_table", "located"]

#: Where the interrupted address stands in what the signal handlers of Linux are given.
COUNTER = {"x86_64": 168, "aarch64": 440}


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTable:
    """A function of `size` bytes: from each of the `starts` on it is code of one of the `places`.

    None is the place of code that is no line's.
    """

    size: int
    starts: Sequence[int]
    places: Sequence[Loc | None]

    def place_at(self, offset: int) -> Loc | None:
        """Whose the instruction is so many bytes behind the entry; None outside the function."""
        at = bisect_right(self.starts, offset) - 1
        return self.places[at] if 0 <= offset < self.size and at >= 0 else None


def located(artifact: Artifact) -> tuple[Artifact, Sequence[Loc]]:
    """An artifact with locations, and the places that these number from 1; RuntimeUnavailable where
    lines cannot be told.
    """
    if sys.platform != "linux" or platform.machine() not in COUNTER:
        raise RuntimeUnavailable(
            "lines can be timed on Linux, on x86-64 and AArch64\n"
            "  help: leave the measurement out; the model of costs works everywhere"
        )
    text, table = with_locations(artifact.text, artifact.line_map)
    return replace(artifact, text=text), table


def line_table(data: bytes, entry: str, table: Sequence[Loc]) -> LineTable:
    """That of the object code of a located artifact."""
    file = read_object(data)
    assert file is not None
    symbol = next(each for each in file.functions if each.name == entry)
    rows = sorted(_rows(data, symbol.value), key=lambda row: row[0])
    places = [table[line - 1] if 0 < line <= len(table) else None for _, line in rows]
    return LineTable(size=symbol.size, starts=[start for start, _ in rows], places=places)


def _rows(data: bytes, entry: int) -> Iterator[tuple[int, int]]:
    """Offsets from the entry at which another line begins, and that line."""
    dwarf: Any = _elf_file()(io.BytesIO(data)).get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        for made in program.get_entries() if program is not None else ():
            if made.state is not None and not made.state.end_sequence:
                yield made.state.address - entry, made.state.line


def _elf_file() -> Any:
    try:
        from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise RuntimeUnavailable(
            "timing lines needs pyelftools\n  help: pip install pyelftools"
        ) from error
    return ELFFile
