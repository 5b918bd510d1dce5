"""An inspection in a terminal: the source with what was decided beside it, and what it needs."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from cubepy.inspection.assembly import hot_loop
from cubepy.inspection.cost import estimated_costs
from cubepy.ir import BufferType, Type
from cubepy.location import line_of
from cubepy.target import Decision

if TYPE_CHECKING:
    from cubepy.inspection.inspection import Inspection

__all__ = ["called", "plain", "rendered"]

_WIDTH = 100
_BAR = 6
_COLOURS = {
    "gang": "magenta", "value": "cyan", "access": "blue", "bounds": "yellow", "memory": "green",
    "branch": "red", "loop": "red", "barrier": "magenta",
}  # fmt: skip


def plain(shown: RenderableType, *, wrapped: bool = True) -> str:
    """Without colour; lines that are too long are broken, or left as they are."""
    console = Console(file=io.StringIO(), width=_WIDTH, color_system=None, legacy_windows=False)
    console.print(shown, soft_wrap=not wrapped)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


#: What `more` says of an inspection in Python.
_ATTRIBUTES = (
    ".ir .optimized_ir .passes .text .llvm .asm .asm_listing .hot_listing .resources .decisions"
)


def rendered(inspection: Inspection, more: str = _ATTRIBUTES) -> RenderableType:
    """What a rich console prints; `more` tells where the rest is."""
    loc = inspection.stages.lowered.loc
    place = f"{PurePath(loc.file).name}:{loc.line}"
    title = Text.assemble(
        (inspection.source.name, "bold"), f" for {inspection.target.full_name}, {place}"
    )
    parts: list[RenderableType] = [title]
    parts.append(Text.assemble(("called ", "bold"), called(inspection)))
    if inspection.assumed:
        parts.append(Text.assemble(("assumed ", "bold"), "; ".join(inspection.assumed)))
    parts += _lines(inspection)
    hot = hot_loop(inspection)
    if hot is not None:
        parts.append(Text.assemble(("hot loop ", "bold"), str(hot)))
    parts.append(Text.assemble(("needs ", "bold"), str(inspection.resources)))
    parts.append(Text(f"more: {more}", style="dim"))
    return Group(*parts)


def called(inspection: Inspection) -> str:
    """For which arguments and which kind of launch, and what it does with its arrays."""
    known, optimized = inspection.specialization, inspection.stages.optimized
    arguments = [f"{name}={_kind(type)}" for name, type in known.types]
    arguments += [f"{name}={value!r}" for name, value in known.values.items()]
    rank, dim = known.options.over_rank, optimized.cube_dim
    shape = f"over a shape of {rank} ax{'is' if rank == 1 else 'es'}, " if rank else ""
    cubes = f"in cubes of {' x '.join(map(str, dim[: max(1, _rank(dim))]))}"
    return f"{', '.join(arguments)}; {shape}{cubes}, {known.options.check}"


def _kind(type: Type) -> str:
    """As a signature writes it, and what the kernel does with it."""
    if not isinstance(type, BufferType):
        return str(type)
    return f"{type.element}[{','.join(':' * type.rank)}]"


def _rank(dim: Sequence[int]) -> int:
    return max((axis for axis, size in enumerate(dim, 1) if size > 1), default=1)


def _lines(inspection: Inspection) -> Iterator[RenderableType]:
    """Each line that something was decided about, with its share of the cost, and the decisions."""
    by_line: dict[int, list[Decision]] = {}
    for decision in inspection.own_decisions:
        by_line.setdefault(decision.loc.line, []).append(decision)
    file = inspection.stages.lowered.loc.file
    costs = estimated_costs(inspection.stages.optimized)
    for line, decisions in by_line.items():
        cost = costs.get((file, line))
        yield _source_line(file, line, cost.share if cost else 0.0)
        for decision in decisions:
            yield Padding(_sentence(decision), (0, 0, 0, 8 + _BAR))


def _source_line(file: str, line: int, share: float) -> RenderableType:
    bar = "█" * round(share * _BAR) or ("▏" if share else "")
    row = Table.grid(padding=(0, 1))
    row.add_column(min_width=5, justify="right", no_wrap=True)
    row.add_column(min_width=_BAR, no_wrap=True)
    row.add_column(no_wrap=True, ratio=1)
    code = Syntax(line_of(file, line).rstrip(), "python", theme="ansi_dark", word_wrap=False)
    row.add_row(Text(str(line), style="dim"), Text(bar, style="yellow"), code)
    return row


def _sentence(decision: Decision) -> Text:
    colour = _COLOURS[decision.topic.value]
    return Text.assemble((f"{decision.topic.value:<8}", colour), str(decision))
