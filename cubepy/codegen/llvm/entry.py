"""The entry of a CPU kernel: loops over tasks and gangs round the code of one gang, and the
module's text.

`void entry(ptr args, i64 task_begin, i64 task_end, ptr arena)`. Each gang, row piece or cube first
runs the guard of `guards.py` and then the fast or the careful version of the body.
"""

from __future__ import annotations

from cubepy.codegen.llvm.band_tasks import emit_bands
from cubepy.codegen.llvm.gang import Gang, Mask, Module
from cubepy.codegen.llvm.guards import Interval, guard_code
from cubepy.codegen.llvm.intervals import cube_intervals
from cubepy.codegen.llvm.layout import plan_layout
from cubepy.codegen.llvm.masking import lanes_until
from cubepy.codegen.llvm.module_text import assemble
from cubepy.codegen.llvm.rows import emit_rows
from cubepy.codegen.llvm.segments import emit_segmented, needs_segments
from cubepy.codegen.llvm.task_loop import close_task_loop, open_task_loop
from cubepy.codegen.llvm.versions import Versions, shared_bytes
from cubepy.codegen.llvm.writer import Writer
from cubepy.ir import Access, BufferType, Kernel, Op, ops, walk
from cubepy.target import Artifact, Target, WordKind, abi_of

__all__ = ["emit_cpu"]

_EXTENTS = (ops.EXTENT_X, ops.EXTENT_Y, ops.EXTENT_Z)


def emit_cpu(kernel: Kernel, target: Target) -> Artifact:
    """LLVM IR of a kernel whose calls are inlined."""
    layout = plan_layout(kernel, target)
    writer = Writer()
    entry = writer.hook()
    module = Module(
        w=writer, target=target, abi=abi_of(kernel), layout=layout, entry=entry,
        params={param: number for number, param in enumerate(kernel.params)},
    )  # fmt: skip
    module.fast_math = str(kernel.options.get("fast_math", "")).replace(",", " ")
    _place_shared(kernel, module)
    versions = Versions(kernel, module)
    if layout.banded:
        emit_bands(module, versions)
    elif layout.schedule.crosses_cubes:
        emit_rows(module, versions)
    else:
        _cubes(module, versions)
    symbol = f"cubepy_{kernel.name}"
    text, line_map = assemble(module, symbol)
    return Artifact(
        target=target, kernel_name=kernel.name, entry=symbol, text=text, abi=module.abi,
        cube_dim=kernel.cube_dim,
        access=tuple(
            p.type.access if isinstance(p.type, BufferType) else Access.READ for p in kernel.params
        ),
        schedule=layout.schedule,
        task_units=layout.task_units if layout.schedule.crosses_cubes else 0,
        task_rows=layout.task_rows,
        over=any(op.opdef in _EXTENTS for op in walk(kernel.body)),
        arena_bytes=module.arena_bytes, work_per_unit=layout.work, line_map=line_map,
        faults=tuple(module.faults), prints=tuple(module.prints), decisions=versions.decisions(),
    )  # fmt: skip


def _place_shared(kernel: Kernel, module: Module) -> None:
    """Room in the arena; arrays of one place, of which one is alive at a time, share it."""
    first: dict[object, Op] = {}
    for op in walk(kernel.body):
        if op.opdef is ops.SHARED:
            room = op.attrs.get("room")
            home = first.setdefault(op.attrs.get("place", op), op)
            size = room if isinstance(room, int) else shared_bytes(op)
            module.arena[op] = module.reserve(home, size)


# ── cubes ───────────────────────────────────────────────────────────────────────────────────────


def _cubes(module: Module, versions: Versions) -> None:
    w = module.w
    counts = [module.word(WordKind.CUBE_COUNT, axis=axis) for axis in range(3)]
    line = w.value(f"icmp eq i64 {w.value(f'mul i64 {counts[1]}, {counts[2]}')}, 1", "line")
    sound = _sound_call(module, versions, line) if versions.assumptions else ""
    task = open_task_loop(module, versions.kernel)
    place = _place_of_cube(module, task, counts, line)
    if not versions.assumptions:
        _cube_body(module, versions, place, fast=False)
        close_task_loop(module)
        return
    w.branch(sound, "fast", "look", likely=True)
    w.begin("look")
    w.branch(_holds(module, versions, {n: (at, at) for n, at in place.items()}), "fast", "careful")
    for fast in (True, False):
        w.begin("fast" if fast else "careful")
        _cube_body(module, versions, place, fast=fast)
    close_task_loop(module)


def _holds(module: Module, versions: Versions, place: dict[str, Interval]) -> str:
    """Whether (i1) all that the fast version takes for granted holds in some cubes."""
    intervals = cube_intervals(module, place)
    return guard_code(module, versions.kernel.body, versions.assumptions, intervals)


def _sound_call(module: Module, versions: Versions, line: str) -> str:
    """The same of all cubes of a call, asked once; only if all cubes lie along x."""
    cubes = ("%task_begin", module.w.value("sub i64 %task_end, 1"))
    zero = ("0", "0")
    ok = _holds(module, versions, {"cube": cubes, "cx": cubes, "cy": zero, "cz": zero})
    return module.w.value(f"and i1 {line}, {ok}", "sound")


def _place_of_cube(module: Module, task: str, counts: list[str], line: str) -> dict[str, str]:
    """Where a cube is along each axis: without divisions where all lie along x, as most do."""
    w = module.w
    before = w.label
    w.branch(line, "placed", "spread", likely=True)
    w.begin("spread")
    area = w.value(f"mul i64 {counts[0]}, {counts[1]}")
    row = w.value(f"udiv i64 {task}, {counts[0]}")
    spread = {
        "cx": (task, w.value(f"urem i64 {task}, {counts[0]}")),
        "cy": ("0", w.value(f"urem i64 {row}, {counts[1]}")),
        "cz": ("0", w.value(f"udiv i64 {task}, {area}")),
    }
    w.jump("placed")
    w.begin("placed")
    return {"cube": task} | {
        name: w.value(f"phi i64 [ {flat}, %{before} ], [ {deep}, %spread ]")
        for name, (flat, deep) in spread.items()
    }


def _cube_body(module: Module, versions: Versions, place: dict[str, str], *, fast: bool) -> None:
    layout, w = module.layout, module.w
    versions.begin(fast=fast)
    if needs_segments(versions.kernel, layout):
        analysis = versions.fast if fast else versions.careful
        inside = versions.assumptions.inside if fast else frozenset()
        emit_segmented(versions.kernel, module, analysis, inside, place, "task_next")
        return
    if layout.gangs == 1:
        gang = versions.gang(fast=fast, place={**place, "u": "0"})
        versions.body(gang, entry_mask(gang), "task_next")
        return
    head, one, latch = (w.fresh(hint + ".") for hint in ("gangs", "gang", "gang_next"))
    before, u, u_after = w.label, "%" + w.fresh("u"), "%" + w.fresh("u")
    w.jump(head)
    w.begin(head)
    w.line(f"{u} = phi i64 [ 0, %{before} ], [ {u_after}, %{latch} ]")
    w.branch(w.value(f"icmp slt i64 {u}, {layout.units}"), one, "task_next")
    w.begin(one)
    gang = versions.gang(fast=fast, place={**place, "u": u})
    versions.body(gang, entry_mask(gang), latch)
    w.begin(latch)
    w.line(f"{u_after} = add i64 {u}, {layout.width}")
    w.jump(head)


def entry_mask(gang: Gang) -> Mask:
    """The lanes that are units of the cube: all, unless the last gang is partial."""
    if gang.layout.units % gang.layout.width == 0:
        return None
    return lanes_until(gang, gang.place["u"], str(gang.layout.units))
