"""What the page shows, as plain values that become JSON: texts, links between lines, decisions.

Lines of all texts refer to one table of strings and one of places, so that the IR after twenty
passes costs little more than the IR once.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from cubepy.inspection import (
    HotLoop,
    Inspection,
    Line,
    called,
    estimated_costs,
    highlighted,
    hot_loop,
    lines_of_code,
    lines_of_kernel,
    lines_of_text,
    loop_marks,
)
from cubepy.records import dataclass, field
from cubepy.tools.explore.sources import Excerpt, excerpts

__all__ = ["Refusal", "Tab", "content_of"]

Place = tuple[str, int]
Row = list[Any]  # mark, string, places: see `_Tables.rows`


class Refusal(NamedTuple):
    """A target that the kernel was not compiled for, and why."""

    target: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """A kernel for one target. `measured`: shares of the time by place, where it was run."""

    inspection: Inspection
    measured: Mapping[Place, float] = field(default_factory=dict)
    remark: str = ""


def content_of(tabs: Sequence[Tab], refusals: Sequence[Refusal]) -> dict[str, Any]:
    """Everything; at least one target must have worked."""
    tables = _Tables()
    shown = [_target(tab, tables) for tab in tabs]
    first = tabs[0].inspection
    loc = first.stages.lowered.loc
    sources = [_source(each, tables) for each in excerpts(loc, tables.places)]
    return {
        "kernel": first.source.name,
        "place": f"{_short(loc.file)}:{loc.line}",
        "sources": sources,
        "targets": shown,
        "refusals": [refusal._asdict() for refusal in refusals],
        "strings": list(tables.strings),
        "chains": [list(chain) for chain in tables.chains],
    }


class _Tables:
    """Strings, places and chains of places by number, in the order they came."""

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self.places: dict[Place, int] = {}
        self.chains: dict[tuple[int, ...], int] = {(): 0}

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def place(self, place: Place) -> int:
        return self.places.setdefault(place, len(self.places))

    def chain(self, line: Line) -> int:
        """A line's places, from the inside out."""
        numbers = tuple(dict.fromkeys(self.place(each) for each in line.places))
        return self.chains.setdefault(numbers, len(self.chains))

    def rows(self, lines: Sequence[Line], language: str) -> list[Row]:
        """Lines as [mark, string, chain]; the mark is " " here."""
        colours = highlighted("\n".join(line.text for line in lines), language)
        return [
            [" ", self.string(colour), self.chain(line)]
            for colour, line in zip(colours, lines, strict=True)
        ]


# ── one target ──────────────────────────────────────────────────────────────────────────────────


def _target(tab: Tab, tables: _Tables) -> dict[str, Any]:
    inspection = tab.inspection
    costs, hot = estimated_costs(inspection.stages.optimized), hot_loop(inspection)
    return {
        "name": inspection.target.language,
        "title": inspection.target.full_name,
        "passes": list(_passes(inspection, tables)),
        "texts": list(_texts(inspection, tables, hot)),
        "decisions": [
            [tables.place((each.loc.file, each.loc.line)), each.topic.value, str(each)]
            for each in inspection.decisions
            if each.loc.known
        ],
        "resources": [
            *([["hot loop", str(hot)]] if hot is not None else ()),
            *([name, f"{number:,}"] for name, number in inspection.resources),
        ],
        "costs": {
            tables.place(place): round(cost.share, 4) for place, cost in sorted(costs.items())
        },
        "measured": {tables.place(place): round(s, 4) for place, s in tab.measured.items()},
        "remark": tab.remark,
        "called": called(inspection),
        "assumed": list(inspection.assumed),
    }


def _short(file: str) -> str:
    """A file below the folder of work as seen from there: pages are given to others."""
    path = PurePath(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else path.name


def _texts(
    inspection: Inspection, tables: _Tables, hot: HotLoop | None
) -> Iterator[dict[str, Any]]:
    """What was emitted, by the name of its language."""
    code = inspection.machine_code
    if code is not None:
        rows = tables.rows(lines_of_code(code), "asm")
        for number, mark in loop_marks(code, hot).items():
            rows[number - 1][0] = mark
        yield {"title": "machine code", "rows": rows}
    language = {"cpu": "llvm", "reference": "ir"}.get(
        inspection.target.language, inspection.target.language
    )
    title = {"llvm": "LLVM", "opencl": "OpenCL C", "wgsl": "WGSL", "ir": "IR"}.get(
        language, language
    )
    yield {"title": title, "rows": tables.rows(lines_of_text(inspection.artifact), language)}


def _passes(inspection: Inspection, tables: _Tables) -> Iterator[dict[str, Any]]:
    """The IR after each pass, with what the pass took away and added marked."""
    before: Sequence[Line] = ()
    for number, step in enumerate(inspection.passes):
        same = number > 0 and step.kernel is inspection.passes[number - 1].kernel
        lines = before if same else lines_of_kernel(step.kernel)
        changed = number > 0 and [a.text for a in lines] != [b.text for b in before]
        shown = {"name": step.name, "changed": changed}
        if number == 0 or changed:  # else the page shows what the pass before left
            shown["rows"] = _marked(before if changed else lines, lines, tables)
        yield shown
        before = lines


def _marked(before: Sequence[Line], after: Sequence[Line], tables: _Tables) -> list[Row]:
    """The rows of both: "-" for those that went, "+" for those that came."""
    old, new = tables.rows(before, "ir"), tables.rows(after, "ir")
    matcher = difflib.SequenceMatcher(
        None, [line.text for line in before], [line.text for line in after], autojunk=False
    )
    rows: list[Row] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            rows += new[c:d]
        else:
            rows += [["-", *row[1:]] for row in old[a:b]]
            rows += [["+", *row[1:]] for row in new[c:d]]
    return rows


# ── the source ──────────────────────────────────────────────────────────────────────────────────


def _source(excerpt: Excerpt, tables: _Tables) -> dict[str, Any]:
    colours = highlighted("\n".join(excerpt.lines), "python")
    rows = [
        [line, tables.string(colour), tables.places.get((excerpt.file, line), -1)]
        for line, colour in enumerate(colours, excerpt.first)
    ]
    return {
        "name": excerpt.name,
        "file": excerpt.file.rpartition("/")[2],
        "fromStd": excerpt.from_std,
        "rows": rows,
    }
