"""Machine code beside the lines of the kernel that it comes from, with its loops marked.

Assembly as LLVM prints it has more directives than a reader wants, and no line says where the time
goes. Here each instruction has its place in the source, and the loop that most of the work is in,
by the model of `cost.py`, has a mark of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from cubepy.errors import UnsupportedError
from cubepy.inspection.cost import estimated_costs
from cubepy.inspection.listing import Line, lines_of_code
from cubepy.location import line_of
from cubepy.records import dataclass
from cubepy.target import CodeLoop, MachineCode

if TYPE_CHECKING:
    from cubepy.inspection.inspection import Inspection

__all__ = ["HotLoop", "asm_listing", "hot_listing", "hot_loop", "loop_marks"]

_HOT, _INNER = "▌", "│"
_CODE_WIDTH = 52  # columns of an instruction before its place
# A hot loop of more instructions than fit on a screen is summed up before they are shown.
_LONG = 60
_KINDS, _LINES = 8, 12  # of a summary: kinds of instructions, and lines of the kernel, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class HotLoop:
    """The loop that most of the work is in. `source`: the kernel's own lines that it runs."""

    code: CodeLoop
    source: tuple[int, ...]
    total: int

    def __str__(self) -> str:
        lines = _spans(self.source)
        of = f"{len(self.code.lines)} of {self.total} instructions"
        return f"{of}, from line{'s' * (len(self.source) > 1)} {lines}" if lines else of


def hot_loop(inspection: Inspection) -> HotLoop | None:
    """By the model of costs; None without machine code, or without a loop in it."""
    code = inspection.machine_code
    if code is None:
        return None
    lines, file = lines_of_code(code), inspection.stages.lowered.loc.file
    costs = estimated_costs(inspection.stages.optimized)

    def source_of(loop: CodeLoop) -> tuple[int, ...]:
        own = (_own_line(lines[number - 1], file) for number in loop.lines)
        return tuple(sorted({line for line in own if line}))

    def weight(loop: CodeLoop) -> tuple[float, int, int]:
        known = (costs.get((file, line)) for line in source_of(loop))
        return sum(cost.share for cost in known if cost), loop.depth, len(loop.lines)

    inner = [loop for loop in code.loops if loop.innermost and not loop.edges]
    if not inner:
        return None
    hottest = max(inner, key=weight)
    return HotLoop(code=hottest, source=source_of(hottest), total=code.instructions)


def asm_listing(inspection: Inspection) -> RenderableType:
    """The instructions of every function; UnsupportedError where there is no machine code."""
    return _listing(inspection)


def hot_listing(inspection: Inspection) -> RenderableType:
    """The instructions of the hot loop alone; UnsupportedError where there is no machine code."""
    return _listing(inspection, hot_alone=True)


def _listing(inspection: Inspection, *, hot_alone: bool = False) -> RenderableType:
    code = inspection.machine_code
    if code is None:
        raise UnsupportedError(inspection.missing("machine code"))
    hot = hot_loop(inspection)
    title = Text.assemble((inspection.source.name, "bold"), f" for {inspection.target.full_name}")
    legend = list(_legend(hot))
    shown: Container[int] | None = None
    if hot_alone:
        shown, legend = frozenset(hot.code.lines if hot is not None else ()), legend[:1]
    file = inspection.stages.lowered.loc.file
    if hot is not None and len(hot.code.lines) > _LONG:
        legend += _summary(code, hot, file)
    return Group(title, *legend, Text("\n").join(_rows(code, hot, file, shown)))


def _summary(code: MachineCode, hot: HotLoop, file: str) -> Iterator[Text]:
    """What a long loop is made of: its instructions by kind, then by line of the kernel."""
    lines = lines_of_code(code)
    inside = [lines[number - 1] for number in hot.code.lines]
    kinds = Counter(line.text.split()[0] for line in inside)
    named = [f"{count} {kind}" for kind, count in kinds.most_common(_KINDS)]
    rest = kinds.total() - sum(count for _, count in kinds.most_common(_KINDS))
    yield Text(f"  {', '.join(named)}{f', {rest} others' * bool(rest)}", style="dim")
    places = Counter(_own_line(line, file) for line in inside)
    for place, count in places.most_common(_LINES):
        made = Text(f"  {count:>6} {count / len(inside):>4.0%}", style="dim")
        made.append(f"  {place or '':>4}", style="dim")
        made.append(f"  {line_of(file, place).strip() if place else 'of no line'}", style="green")
        yield made
    if len(places) > _LINES:
        yield Text(f"  and {len(places) - _LINES} more lines", style="dim")


def _legend(hot: HotLoop | None) -> Iterator[Text]:
    if hot is None:
        yield Text("no loop", style="dim")
        return
    yield Text.assemble((_HOT, "bold red"), f" the hot loop, by the model of costs: {hot}")
    yield Text(f"{_INNER} other innermost loops; ~ those for units at the edges", style="dim")


def _rows(
    code: MachineCode, hot: HotLoop | None, file: str, shown: Container[int] | None = None
) -> Iterator[Text]:
    """Labels and instructions; of those in the lines `shown`, where not all are."""
    marks = loop_marks(code, hot)
    before = 0
    labels: list[Text] = []
    for number, line in enumerate(lines_of_code(code), 1):
        if _is_label(line.text):
            labels.append(Text(f"  {line.text}", style="yellow"))
            before = 0
        elif line.text.startswith("\t") and not line.text.startswith(("\t.", "\t#", "\t//")):
            own = _own_line(line, file)
            if shown is None or number in shown:
                yield from labels
                yield _row(line, marks.get(number, " "), own, file, repeated=own == before)
                before = own
            else:
                before = 0
            labels = []
    if shown is None:
        yield from labels


def _row(line: Line, mark: str, own: int, file: str, *, repeated: bool) -> Text:
    name, _, operands = line.text.strip().partition("\t")
    made = Text(f"{mark} ", style="bold red" if mark == _HOT else "dim")
    made.append(f"  {name:<13}", style="cyan")
    made.append(operands.ljust(_CODE_WIDTH - 15))
    if own:
        made.append(f" {own:>4}", style="dim")
        made.append("" if repeated else f"  {line_of(file, own).strip()}", style="green")
        inner = next(iter(line.places))
        if inner[0] != file:
            made.append(f"  ({PurePath(inner[0]).name}:{inner[1]})", style="dim")
    made.rstrip()
    return made


def loop_marks(code: MachineCode, hot: HotLoop | None) -> dict[int, str]:
    """The mark of each line in an innermost loop, by its number."""
    marks: dict[int, str] = {}
    for loop in code.loops:
        if loop.innermost:
            mark = "~" if loop.edges else _INNER
            if hot is not None and loop is hot.code:
                mark = _HOT
            marks.update(dict.fromkeys(loop.lines, mark))
    return marks


def _is_label(text: str) -> bool:
    """A label that code jumps to, or a function's name."""
    return text.endswith(":") and not text.startswith((".LCPI", ".Lfunc", "\t"))


def _own_line(line: Line, file: str) -> int:
    """The line in the kernel's file: of what was called, that of the call; 0 if there is none."""
    return next((number for place, number in line.places if place == file), 0)


def _spans(numbers: Sequence[int]) -> str:
    """`3-5, 9`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)
