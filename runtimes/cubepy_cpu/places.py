"""The machine code of an artifact for people: its text, and the kernel's place of each line.

Every instruction of the LLVM text is given a location whose line is the number of a place in a
table; LLVM carries them through its passes and says in `.loc` directives what came of each. The
code is that of the text without them, but for the order of a few instructions of the prologue on
some processors; what cannot be matched has no place.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

from cubepy.location import Loc
from cubepy.target import Artifact, MachineCode
from cubepy_cpu import llvm
from cubepy_cpu.effort import DEFAULT_PASSES
from cubepy_cpu.elf import read_object
from cubepy_cpu.host import Machine

__all__ = ["is_instruction", "machine_code", "places_of_lines", "with_locations"]

_FIRST = 1000  # the first number of our metadata: those of the text are below
_HEAD = re.compile(r"^define void @\S+\(.*\) #0 \{$")
_VECTOR_REGISTER = re.compile(r"%[xyz]mm(\d+)\b|\b[vq](\d+)\b")
_LOC = re.compile(r"\s+\.loc\s+\d+\s+(\d+)")
_COMMENT = re.compile(r"\s+(#|//)\s.*$")
_KINDS = """
!llvm.dbg.cu = !{!1000}
!llvm.module.flags = !{!1003}
!1000 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1001, producer: "cubepy", \
isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1001 = !DIFile(filename: "kernel", directory: "")
!1002 = distinct !DISubprogram(name: "kernel", scope: !1001, file: !1001, line: 1, type: !1004, \
scopeLine: 1, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !1000)
!1003 = !{i32 2, !"Debug Info Version", i32 3}
!1004 = !DISubroutineType(types: !1005)
!1005 = !{null}
"""


def machine_code(
    artifact: Artifact, machine: Machine, *, passes: Sequence[str] = DEFAULT_PASSES
) -> MachineCode:
    """The assembly of an artifact with the place of each line, and what can be counted in it."""
    text = llvm.assembly(artifact.text, machine, passes)
    located, table = with_locations(artifact.text, artifact.line_map)
    commented = llvm.commented_assembly(located, machine, passes)
    file = read_object(llvm.compile_object(artifact.text, machine, passes))
    functions = () if file is None else file.functions
    return MachineCode(
        text=text,
        line_map=places_of_lines(text, commented, table),
        instructions=sum(1 for line in text.splitlines() if is_instruction(line)),
        code_bytes=sum(each.size for each in functions if each.name == artifact.entry),
        spills=commented.count("-byte Spill"),
        reloads=commented.count("-byte Reload") + commented.count("-byte Folded Reload"),
        vector_registers=len(set(_VECTOR_REGISTER.findall(text))),
    )


def with_locations(text: str, line_map: Mapping[int, Loc]) -> tuple[str, list[Loc]]:
    """LLVM text whose instructions have locations, and the places that these number from 1."""
    table: dict[Loc, int] = {}
    made = []
    for number, line in enumerate(text.split("\n"), 1):
        loc = line_map.get(number)
        if _HEAD.match(line):
            line = line.removesuffix("{") + "!dbg !1002 {"  # noqa: PLW2901
        elif loc is not None and line.startswith("  "):
            place = table.setdefault(loc, len(table) + 1)
            line = f"{line}, !dbg !{_FIRST + 5 + place}"  # noqa: PLW2901
        made.append(line)
    locations = [
        f"!{_FIRST + 5 + place} = !DILocation(line: {place}, column: 0, scope: !1002)"
        for place in table.values()
    ]
    return "\n".join([*made, _KINDS, *locations, ""]), list(table)


def places_of_lines(plain: str, located: str, table: Sequence[Loc]) -> dict[int, Loc]:
    """The place of each line of `plain`, from the assembly of the same code with locations."""
    lines = [each for each in enumerate(plain.splitlines(), 1) if is_instruction(each[1])]
    known = list(_instructions(located))
    texts, others = [text for _, text in lines], [text for text, _ in known]
    if texts == others:
        pairs = list(zip(range(len(texts)), range(len(texts)), strict=True))
    else:
        blocks = difflib.SequenceMatcher(None, texts, others).get_matching_blocks()
        pairs = [(a + at, b + at) for a, b, size in blocks for at in range(size)]
    return {lines[a][0]: table[known[b][1] - 1] for a, b in pairs if known[b][1]}


def _instructions(assembly: str) -> Iterator[tuple[str, int]]:
    """The instructions, each with the number of its place, or 0."""
    place = 0
    for line in assembly.splitlines():
        found = _LOC.match(line)
        if found is not None:
            place = int(found[1])
        elif is_instruction(line):
            yield _COMMENT.sub("", line), place


def is_instruction(line: str) -> bool:
    """Whether a line of assembly is one, and no label or directive."""
    return line.startswith("\t") and not line.startswith(("\t.", "\t#"))
