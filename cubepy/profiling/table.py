"""A profile as a table: for terminals with and without colour, and for notebooks."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from cubepy.profiling.profiler import Profile, Row

__all__ = ["page", "plain", "rendered"]

_WIDTH = 110
_COLUMNS = ("kernel", "device", "shape", "launches", "total", "share", "mean", "min", "max", "GB/s")
_TEXTS = 3  # columns of words; the others are numbers
_NOTE = "GB/s: each element of each argument once; blank where units touch several."


def plain(profile: Profile) -> str:
    """Without colour."""
    console = Console(file=io.StringIO(), width=_WIDTH, color_system=None, legacy_windows=False)
    console.print(rendered(profile))
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def rendered(profile: Profile) -> RenderableType:
    """What a rich console prints."""
    rows = profile.rows
    if not rows:
        return Text("\n".join(_sentences(profile, rows)))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(_COLUMNS):
        numeric = number >= _TEXTS
        table.add_column(name, justify="right" if numeric else "left", no_wrap=numeric)
    total = sum(row.total for row in rows)
    for row in rows:
        table.add_row(*_cells(row, total))
    note = (Text(_NOTE, style="dim"),) if any(row.bandwidth for row in rows) else ()
    return Group(*map(Text, _sentences(profile, rows)), table, *note)


def page(profile: Profile) -> str:
    """The HTML of one output cell."""
    rows = profile.rows
    total = sum(row.total for row in rows)
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(row, total)) + "</tr>"
        for row in rows
    )
    said = "<br>".join(map(html.escape, _sentences(profile, rows)))
    return f"<div><p>{said}</p><table><tr>{head}</tr>{body}</table><p>{_NOTE}</p></div>"


def _sentences(profile: Profile, rows: Sequence[Row]) -> list[str]:
    """What there was in all."""
    count = sum(row.count for row in rows)
    if not count and not profile.failed:
        return ["no launch"]
    busy = sum(row.total for row in rows)
    devices = {row.device for row in rows}
    share = f" ({busy / profile.wall:.0%})" if profile.wall and len(devices) == 1 else ""
    said = [f"{_counted(count, 'launch', 'launches')}, {seconds(busy)} on {_names(devices)}"]
    if profile.wall:
        said[0] += f" of {seconds(profile.wall)}{share}"
    ready = profile.compiled_kernels
    if ready:
        took = sum(each.end - each.begin for each in ready)
        said.append(f"{_counted(len(ready), 'kernel', 'kernels')} made ready in {seconds(took)}")
    if profile.failed:
        said.append(f"{_counted(profile.failed, 'launch', 'launches')} failed, not counted")
    return said


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _names(devices: set[str]) -> str:
    return ", ".join(sorted(devices)) or "no device"


def _cells(row: Row, total: float) -> tuple[str, ...]:
    of_target = row.device.startswith(row.target.partition(":")[0])
    return (
        row.kernel,
        row.device if of_target else f"{row.device} ({row.target})",
        " × ".join(map(str, row.shape)),
        f"{row.count:,}",
        seconds(row.total),
        f"{row.total / total:.0%}" if total else "",
        seconds(row.mean),
        seconds(row.shortest),
        seconds(row.longest),
        "" if row.bandwidth is None else f"{row.bandwidth / 1e9:.3g}",
    )


def seconds(number: float) -> str:
    """A time in a unit that fits: three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if number >= size:
            return f"{number / size:.3g} {unit}" if number < 999.5 * size else f"{number:.0f} s"
    return f"{number * 1e9:.3g} ns"
