"""Kernels whose gangs cross cubes: tasks are pieces of rows of the launch, gangs follow each other
along a piece.
"""

from __future__ import annotations

from cubepy.codegen.llvm.gang import Module
from cubepy.codegen.llvm.guards import guard_code
from cubepy.codegen.llvm.intervals import launch_intervals
from cubepy.codegen.llvm.masking import lanes_until
from cubepy.codegen.llvm.task_loop import close_task_loop, open_task_loop
from cubepy.codegen.llvm.versions import Versions
from cubepy.target import WordKind

__all__ = ["careful_gangs", "emit_rows"]


def emit_rows(module: Module, versions: Versions) -> None:
    """The loop over pieces of rows, and in it the one over the gangs of a piece."""
    w, layout = module.w, module.layout
    extents = [module.word(WordKind.EXTENT, axis=axis) for axis in range(3)]
    task = open_task_loop(module, versions.kernel)
    size = layout.task_units
    along, across = "xyz".index(layout.along), "xyz".index(layout.across)
    pieces = w.value(f"udiv i64 {w.value(f'add i64 {extents[along]}, {size - 1}')}, {size}")
    row, piece = w.value(f"udiv i64 {task}, {pieces}"), w.value(f"urem i64 {task}, {pieces}")
    y = w.value(f"urem i64 {row}, {extents[across]}")
    z = w.value(f"udiv i64 {row}, {extents[across]}")
    place = {layout.along: "%x", layout.across: y, "z": z}
    first = w.value(f"mul i64 {piece}, {size}")
    limit = w.value(f"add i64 {first}, {size}")
    last = w.value(f"call i64 @llvm.smin.i64(i64 {limit}, i64 {extents[along]})")
    module.declared["llvm.smin.i64"] = "declare i64 @llvm.smin.i64(i64, i64)"
    body = versions.kernel.body
    piece_ok = "true"
    if versions.assumptions:
        span = w.value(f"sub i64 {last}, {first}")
        full = w.value(f"and i64 {span}, -{layout.width}")
        final = w.value(f"sub i64 {w.value(f'add i64 {first}, {full}')}, 1")
        intervals = launch_intervals(module, (first, final), (y, y), z)
        piece_ok = guard_code(module, body, versions.assumptions, intervals)
    before = w.label
    w.jump("gangs")
    w.begin("gangs")
    w.line(f"%x = phi i64 [ {first}, %{before} ], [ %x_after, %gang_next ]")
    w.branch(w.value(f"icmp slt i64 %x, {last}"), "gang", "task_next")
    w.begin("gang")
    after = w.value(f"add i64 %x, {layout.width}")
    if versions.one:
        w.jump("careful")
    else:
        _whole_or_careful(module, versions, place, (after, last), piece_ok)
    w.begin("careful")
    careful_gangs(module, versions, place, (after, last), "gang_next")
    w.begin("gang_next")
    w.line(f"%x_after = add i64 %x, {layout.width}")
    w.jump("gangs")
    close_task_loop(module)


def _whole_or_careful(
    module: Module, versions: Versions, place: dict[str, str], ends: tuple[str, str], ok: str
) -> None:
    """The fast version for a gang that ends by the end of the piece, if all that it takes for
    granted holds of the piece, or else of the gang.
    """
    w, (after, last) = module.w, ends
    w.branch(w.value(f"icmp sle i64 {after}, {last}"), "whole", "careful")
    w.begin("whole")
    if versions.assumptions:
        w.branch(ok, "fast", "look", likely=True)
        w.begin("look")
        along, across = ("%x", w.value(f"sub i64 {after}, 1")), place[module.layout.across]
        intervals = launch_intervals(module, along, (across, across), place["z"])
        holds = guard_code(module, versions.kernel.body, versions.assumptions, intervals)
        w.branch(holds, "fast", "careful")
    else:
        w.jump("fast")
    w.begin("fast")
    _whole_gang(module, versions, place)


def _whole_gang(module: Module, versions: Versions, place: dict[str, str]) -> None:
    """A gang all of whose units are there and inside, straight first if that is worth trying."""
    if versions.straight is not None:
        gang = versions.gang(fast=True, place=place, retreat="usual")
        versions.body(gang, None, "gang_next")
        module.w.begin("usual")
    gang = versions.gang(fast=True, place=place)
    versions.body(gang, None, "gang_next")


def careful_gangs(
    module: Module, versions: Versions, place: dict[str, str], ends: tuple[str, str], end: str
) -> None:
    """The units of a row from a place on up to the nearer of two ends, the careful way, one vector
    at a time; ends with a jump to `end`.
    """
    w, layout = module.w, module.layout
    first = place[layout.along]
    if layout.parts == 1:
        gang = versions.gang(fast=False, place=place)
        mask = None if layout.alone else lanes_until(gang, first, ends[1])
        versions.body(gang, mask, end)
        return
    stop = w.value(f"call i64 @llvm.smin.i64(i64 {ends[0]}, i64 {ends[1]})")
    before = w.label
    w.jump("vectors")
    w.begin("vectors")
    w.line(f"%part = phi i64 [ {first}, %{before} ], [ %part_after, %vector_next ]")
    w.branch(w.value(f"icmp slt i64 %part, {stop}"), "vector", end)
    w.begin("vector")
    with module.laid_out(layout.narrow()):
        gang = versions.gang(fast=False, place={**place, layout.along: "%part"})
        versions.body(gang, lanes_until(gang, "%part", stop), "vector_next")
    w.begin("vector_next")
    w.line(f"%part_after = add i64 %part, {layout.lanes}")
    w.jump("vectors")
