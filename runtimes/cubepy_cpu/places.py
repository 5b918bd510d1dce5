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
from cubepy.target import Artifact, CodeLoop, MachineCode
from cubepy_cpu import llvm
from cubepy_cpu.effort import DEFAULT_PASSES
from cubepy_cpu.elf import read_object
from cubepy_cpu.host import Machine
from cubepy_cpu.loops import loops_of

__all__ = ["is_instruction", "loops_of_lines", "machine_code", "places_of_lines", "with_locations"]

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
!1002 = distinct !DISubprogram(name: "kernel", scope: !1001, file: !1001, line: 0, type: !1004, \
scopeLine: 0, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !1000)
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
        loops=loops_of_lines(text, commented, located),
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
    places = {line: place for line, _, place in _instructions(located)}
    pairs = _same_lines(plain, located)
    return {line: table[places[other] - 1] for line, other in pairs if places[other]}


def loops_of_lines(plain: str, commented: str, emitted: str) -> tuple[CodeLoop, ...]:
    """The loops of `plain`, from the assembly of the same code with LLVM's comments."""
    loops, blocks = loops_of(commented, emitted)
    for line, other in _same_lines(plain, commented):
        block = blocks.get(other)
        if block is None or not block.loop:
            continue
        for header in (block.loop, *loops[block.loop].parents):
            if loops[header].edges == block.edges:
                loops[header].lines.append(line)
    parents = {
        parent
        for loop in loops.values()
        for parent in loop.parents
        if loop.edges == loops[parent].edges
    }
    return tuple(
        CodeLoop(
            lines=tuple(loop.lines),
            depth=loop.depth,
            edges=loop.edges,
            innermost=header not in parents,
        )
        for header, loop in loops.items()
        if loop.lines
    )


def _same_lines(plain: str, other: str) -> list[tuple[int, int]]:
    """Numbers of lines with the same instruction in two assemblies of the same code."""
    some, more = list(_instructions(plain)), list(_instructions(other))
    texts, others = [text for _, text, _ in some], [text for _, text, _ in more]
    if texts == others:
        return [(mine[0], theirs[0]) for mine, theirs in zip(some, more, strict=True)]
    blocks = difflib.SequenceMatcher(None, texts, others).get_matching_blocks()
    return [(some[a + at][0], more[b + at][0]) for a, b, size in blocks for at in range(size)]


def _instructions(assembly: str) -> Iterator[tuple[int, str, int]]:
    """The instructions: the number of the line, the text, the number of its place or 0."""
    place = 0
    for number, line in enumerate(assembly.splitlines(), 1):
        found = _LOC.match(line)
        if found is not None:
            place = int(found[1])
        elif is_instruction(line):
            yield number, _COMMENT.sub("", line), place


def is_instruction(line: str) -> bool:
    """Whether a line of assembly is one, and no label or directive."""
    return line.startswith("\t") and not line.startswith(("\t.", "\t#"))
