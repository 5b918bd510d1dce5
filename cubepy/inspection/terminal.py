"""An inspection in a terminal: the source with what was decided beside it, and what it needs."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from cubepy.inspection.cost import estimated_costs
from cubepy.location import line_of
from cubepy.target import Decision

if TYPE_CHECKING:
    from cubepy.inspection.inspection import Inspection

__all__ = ["plain", "rendered"]

_WIDTH = 100
_BAR = 6
_COLOURS = {
    "gang": "magenta", "value": "cyan", "access": "blue", "bounds": "yellow", "memory": "green",
    "branch": "red", "loop": "red", "barrier": "magenta",
}  # fmt: skip


def plain(inspection: Inspection) -> str:
    """Without colour."""
    console = Console(file=io.StringIO(), width=_WIDTH, color_system=None, legacy_windows=False)
    console.print(rendered(inspection))
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def rendered(inspection: Inspection) -> RenderableType:
    """What a rich console prints."""
    loc = inspection.stages.lowered.loc
    place = f"{PurePath(loc.file).name}:{loc.line}"
    title = Text.assemble((inspection.source.name, "bold"), f" for {inspection.target}, {place}")
    parts: list[RenderableType] = [title, *_lines(inspection), _needs(inspection)]
    stages = ".ir .optimized_ir .passes .text .llvm .asm .resources .decisions"
    parts.append(Text(f"more: {stages}", style="dim"))
    return Group(*parts)


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
    row.add_column(width=5, justify="right", no_wrap=True)
    row.add_column(width=_BAR, no_wrap=True)
    row.add_column(no_wrap=True)
    code = Syntax(line_of(file, line).rstrip(), "python", theme="ansi_dark", word_wrap=False)
    row.add_row(Text(str(line), style="dim"), Text(bar, style="yellow"), code)
    return row


def _sentence(decision: Decision) -> Text:
    colour = _COLOURS[decision.topic.value]
    return Text.assemble((f"{decision.topic.value:<8}", colour), str(decision))


def _needs(inspection: Inspection) -> RenderableType:
    return Text.assemble(("needs ", "bold"), str(inspection.resources))
