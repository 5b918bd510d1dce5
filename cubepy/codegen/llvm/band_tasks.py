"""Kernels whose gangs have several rows: a task is a strip of columns, one gang wide, in many bands
of rows; gangs follow each other down the strip.

Down a strip all bands read the same columns, which therefore stay in the nearest caches; what a
loop reads of them trip by trip is copied side by side first (`staging.py`).
"""

from __future__ import annotations

from cubepy.codegen.llvm.gang import Module
from cubepy.codegen.llvm.guards import guard_code
from cubepy.codegen.llvm.intervals import launch_intervals
from cubepy.codegen.llvm.rows import careful_gangs
from cubepy.codegen.llvm.staging import Stage, stage_loads
from cubepy.codegen.llvm.task_loop import close_task_loop, open_task_loop
from cubepy.codegen.llvm.versions import Versions
from cubepy.ir import Kernel, Op
from cubepy.ir.analyses import Assumptions
from cubepy.records import dataclass
from cubepy.target import WordKind

__all__ = ["emit_bands"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Strip:
    """A task: its first column and row, the ends of both, `z`, and whether (i1) a gang fits in."""

    first: str
    limit: str
    end: str
    top: str
    bottom: str
    z: str
    whole: str


def emit_bands(module: Module, versions: Versions) -> None:
    """The loop over strips, and in it the one over the bands of a strip."""
    w, layout = module.w, module.layout
    strip = _open_strip(module, open_task_loop(module, versions.kernel))
    sound = strip.whole
    rows = (strip.top, w.value(f"sub i64 {strip.bottom}, 1"))

    def holds(assumed: Assumptions, rows: tuple[str, str]) -> str:
        return _holds(module, versions.kernel, strip, rows, assumed)

    if versions.assumptions:
        sound = w.value(f"and i1 {strip.whole}, {holds(versions.assumptions, rows)}", "sound")
    place = {layout.along: strip.first, layout.across: strip.top, "z": strip.z}
    staged = stage_loads(
        module, versions, place, sound, lambda loads: holds(Assumptions(inside=loads), rows)
    )
    before = w.label
    w.jump("bands")
    w.begin("bands")
    w.line(f"%y = phi i64 [ {strip.top}, %{before} ], [ %y_after, %band_next ]")
    w.branch(w.value(f"icmp slt i64 %y, {strip.bottom}"), "band", "task_next")
    w.begin("band")
    w.line(f"%y_after = add i64 %y, {layout.rows}")
    end = w.value(f"call i64 @llvm.smin.i64(i64 %y_after, i64 {strip.bottom})")
    if versions.assumptions:
        w.branch(sound, "sound", "look", likely=True)
        w.begin("look")
        ok = holds(versions.assumptions, ("%y", w.value(f"sub i64 {end}, 1")))
        w.branch(w.value(f"and i1 {strip.whole}, {ok}"), "sound", "careful")
    else:
        w.branch(sound, "sound", "careful", likely=True)
    w.begin("sound")
    whole = w.value(f"icmp sle i64 %y_after, {strip.bottom}")
    w.branch(whole, "fast", "single", likely=True)
    w.begin("fast")
    _fast_gang(versions, {**place, layout.across: "%y"}, staged, "band_next")
    for name in ("single", "careful"):
        w.begin(name)
        _row_by_row(module, versions, strip, place, staged, end, name)
    w.begin("band_next")
    w.jump("bands")
    close_task_loop(module)


def _open_strip(module: Module, task: str) -> _Strip:
    w, layout = module.w, module.layout
    columns, rows = (
        module.word(WordKind.EXTENT, axis="xyz".index(axis))
        for axis in (layout.along, layout.across)
    )
    module.declared["llvm.smin.i64"] = "declare i64 @llvm.smin.i64(i64, i64)"

    def pieces(extent: str, size: int) -> str:
        return w.value(f"udiv i64 {w.value(f'add i64 {extent}, {size - 1}')}, {size}")

    strips, groups = pieces(columns, layout.width), pieces(rows, layout.task_rows)
    rest = w.value(f"udiv i64 {task}, {strips}")
    first = w.value(f"mul i64 {w.value(f'urem i64 {task}, {strips}')}, {layout.width}")
    top = w.value(f"mul i64 {w.value(f'urem i64 {rest}, {groups}')}, {layout.task_rows}")
    below = w.value(f"add i64 {top}, {layout.task_rows}")
    end = w.value(f"add i64 {first}, {layout.width}")
    return _Strip(
        first=first, end=end, limit=columns, top=top,
        bottom=w.value(f"call i64 @llvm.smin.i64(i64 {below}, i64 {rows})"),
        z=w.value(f"udiv i64 {rest}, {groups}"), whole=w.value(f"icmp sle i64 {end}, {columns}"),
    )  # fmt: skip


def _holds(
    module: Module, kernel: Kernel, strip: _Strip, rows: tuple[str, str], assumed: Assumptions
) -> str:
    """Whether (i1) all that is `assumed` holds in these rows of a strip."""
    columns = (strip.first, module.w.value(f"sub i64 {strip.end}, 1"))
    intervals = launch_intervals(module, columns, rows, strip.z)
    return guard_code(module, kernel.body, assumed, intervals)


def _fast_gang(
    versions: Versions, place: dict[str, str], staged: dict[Op, Stage], end: str
) -> None:
    gang = versions.gang(fast=True, place=place)
    gang.staged = staged
    versions.body(gang, None, end)


def _row_by_row(
    module: Module, versions: Versions, strip: _Strip, place: dict[str, str],
    staged: dict[Op, Stage], end: str, name: str,
) -> None:  # fmt: skip
    """The rows from `%y` to `end` one after the other: `single` ones fast, or the careful way."""
    w, layout = module.w, module.layout
    row, after = f"%{name}_row", f"%{name}_row_after"
    w.jump(f"{name}_rows")
    w.begin(f"{name}_rows")
    w.line(f"{row} = phi i64 [ %y, %{name} ], [ {after}, %{name}_next ]")
    w.branch(w.value(f"icmp slt i64 {row}, {end}"), f"{name}_one", "band_next")
    w.begin(f"{name}_one")
    here = {**place, layout.across: row}
    if name == "single":
        with module.laid_out(layout.one_row()):
            _fast_gang(versions, here, staged, f"{name}_next")
    else:
        careful_gangs(module, versions, here, (strip.end, strip.limit), f"{name}_next")
    w.begin(f"{name}_next")
    w.line(f"{after} = add i64 {row}, 1")
    w.jump(f"{name}_rows")
