"""The entry of a CPU kernel: loops over tasks and gangs round the code of one gang, and the
module's text.

`void entry(ptr args, i64 task_begin, i64 task_end, ptr arena)`. Each gang, row piece or cube first
runs the guard of `guards.py` and then the fast or the careful version of the body.
"""

from __future__ import annotations

from math import prod

from cubepy.codegen.llvm.gang import Gang, Mask, Module, Scope
from cubepy.codegen.llvm.guards import guard_code
from cubepy.codegen.llvm.intervals import column_intervals, cube_intervals, row_intervals
from cubepy.codegen.llvm.layout import plan_layout, uniform_memory
from cubepy.codegen.llvm.masking import lanes_until
from cubepy.codegen.llvm.module_text import assemble
from cubepy.codegen.llvm.notes import EDGES
from cubepy.codegen.llvm.positions import emit_positions
from cubepy.codegen.llvm.segments import emit_segmented, exits_by_gang, needs_segments
from cubepy.codegen.llvm.tallies import close_tallies, open_tallies
from cubepy.codegen.llvm.walk import emit_region
from cubepy.codegen.llvm.writer import Writer
from cubepy.ir import INDEX, Access, BufferType, Kernel, Op, Scalar, SharedType, Trait, ops, walk
from cubepy.ir.analyses import Assumptions, Uniformity, analyze_uniformity, find_assumptions
from cubepy.target import Artifact, Decision, Schedule, Target, Topic, WordKind, abi_of

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
    versions = _Versions(kernel, module)
    if layout.schedule.crosses_cubes:
        _rows(module, versions)
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
        over=any(op.opdef in _EXTENTS for op in walk(kernel.body)),
        arena_bytes=module.arena_bytes, work_per_unit=layout.work, line_map=line_map,
        faults=tuple(module.faults), prints=tuple(module.prints), decisions=versions.decisions(),
    )  # fmt: skip


def _place_shared(kernel: Kernel, module: Module) -> None:
    for op in walk(kernel.body):
        if op.opdef is ops.SHARED:
            module.reserve(op, _bytes(op))


def _bytes(op: Op) -> int:
    """The size of a shared array."""
    assert isinstance(op.type, SharedType)
    return prod(op.type.shape) * op.type.element.size


class _Versions:
    """The body in its two versions, and what each takes for granted."""

    def __init__(self, kernel: Kernel, module: Module) -> None:
        self.kernel, self.module = kernel, module
        self.two = module.layout.schedule.crosses_cubes  # whether there is a fast version
        self.given = _extent_guards(kernel) if module.layout.schedule.crosses_cubes else {}
        self.by_mask = (
            exits_by_gang(kernel) if needs_segments(kernel, module.layout) else frozenset()
        )
        self.careful = self._analyze(Assumptions(conditions=self.given))
        found = Assumptions()
        if module.target.does("facts"):
            found = find_assumptions(kernel.body, self.careful, self.given)
        self.assumptions = found
        self.two = self.two or bool(found)
        module.notes.unbounded = found.unbounded
        self.fast = self._analyze(
            Assumptions(
                conditions={**self.given, **found.conditions},
                inside=found.inside,
                exact=found.exact,
            )
        )
        self.positions = [
            op for op in walk(kernel.body)
            if not op.operands and not op.regions and op.opdef.has(Trait.PURE) and op.type == INDEX
            and op.opdef is not ops.CONST
        ]  # fmt: skip

    def _analyze(self, assumptions: Assumptions) -> Uniformity:
        return analyze_uniformity(
            self.kernel.body,
            params=self.kernel.params,
            seed=self.module.layout.seed_shape,
            uniform_load=uniform_memory,
            assumed=assumptions.conditions,
            exact_widenings=assumptions.exact,
            never_together=self.by_mask,
        )

    def gang(self, *, fast: bool, place: dict[str, str]) -> Gang:
        """A gang at a place, with parameters and positions ready."""
        self.begin(fast=fast)
        gang = Gang(
            module=self.module,
            analysis=self.fast if fast else self.careful,
            emit_region=emit_region,
            inside=self.assumptions.inside if fast else frozenset(),
            place=place,
        )
        for param in self.kernel.params:
            if isinstance(param.type, Scalar):
                gang.define(param, (self.module.scalar_argument(param),))
        emit_positions(gang, self.positions)
        return gang

    def begin(self, *, fast: bool) -> None:
        """From here on the fast version, or the only one, is emitted, or else the careful one."""
        self.module.notes.version = EDGES if not fast and self.two else ""

    def body(self, gang: Gang, mask: Mask, end: str) -> None:
        """The kernel's body for one gang; ends with a jump to `end`."""
        (done,) = gang.fresh_labels("done")
        gang.mask = mask
        returns_part = any(
            op.opdef is ops.RETURN and op not in gang.analysis.jumps
            for op in walk(self.kernel.body)
        )
        cells = gang.mask_cells(mask) if returns_part else ()
        gang.scopes.append(Scope(op=None, next=done, end=done, alive=cells, trip=cells))
        emit_region(gang, self.kernel.body)
        if not gang.dead:
            gang.w.jump(done)
        gang.begin(done)
        gang.w.jump(end)

    def decisions(self) -> tuple[Decision, ...]:
        """What was chosen, for people."""
        layout, module = self.module.layout, self.module
        memory = [
            Decision(
                topic=Topic.MEMORY, loc=op.loc, subject=op.name,
                text=f"{_bytes(op)} bytes shared by a cube, in the thread's own arena",
            )
            for op in walk(self.kernel.body) if op.opdef is ops.SHARED
        ]  # fmt: skip
        gang = Decision(topic=Topic.GANG, loc=self.kernel.loc, text=layout.description)
        return (gang, *memory, *module.notes.decisions())


def _extent_guards(kernel: Kernel) -> dict[Op, bool]:
    """Guards that hold by the way rows are cut: a position below its extent."""
    given: dict[Op, bool] = {}
    for op in walk(kernel.body):
        if op.opdef is ops.LT and all(not operand.operands for operand in op.operands):
            names = (op.operands[0].opdef.name, op.operands[1].opdef.name)
            if names in {(f"absolute_pos_{axis}", f"extent_{axis}") for axis in "xyz"}:
                given[op] = True
        if op.opdef is ops.BIT_AND and all(operand in given for operand in op.operands):
            given[op] = True
    return given


# ── rows ────────────────────────────────────────────────────────────────────────────────────────


def _task_loop(module: Module, kernel: Kernel) -> str:
    """Open the loop over tasks; gives the task's number. The caller jumps to `task_next`."""
    w, layout = module.w, module.layout
    open_tallies(
        module, kernel, layout.task_units if layout.schedule.crosses_cubes else layout.units
    )
    before = w.label
    w.jump("tasks")
    w.begin("tasks")
    w.line(f"%task = phi i64 [ %task_begin, %{before} ], [ %task_after, %task_next ]")
    more = w.value("icmp slt i64 %task, %task_end")
    w.branch(more, "task_body", "finish")
    w.begin("task_body")
    return "%task"


def _close_task_loop(module: Module) -> None:
    w = module.w
    w.begin("task_next")
    w.line("%task_after = add i64 %task, 1")
    w.jump("tasks")
    w.begin("finish")
    close_tallies(module)
    w.line("ret void")


def _rows(module: Module, versions: _Versions) -> None:
    w, layout = module.w, module.layout
    extents = [module.word(WordKind.EXTENT, axis=axis) for axis in range(3)]
    task = _task_loop(module, versions.kernel)
    size = layout.task_units
    along, across = "xyz".index(layout.along), "xyz".index(layout.across)
    pieces = w.value(f"udiv i64 {w.value(f'add i64 {extents[along]}, {size - 1}')}, {size}")
    row, piece = w.value(f"udiv i64 {task}, {pieces}"), w.value(f"urem i64 {task}, {pieces}")
    y = w.value(f"urem i64 {row}, {extents[across]}")
    z = w.value(f"udiv i64 {row}, {extents[across]}")
    place = {layout.along: "%x", layout.across: y, "z": z}
    bounds = row_intervals if layout.schedule is Schedule.ROWS else column_intervals
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
        intervals = bounds(module, first, final, y, z)
        piece_ok = guard_code(module, body, versions.assumptions, intervals)
    before = w.label
    w.jump("gangs")
    w.begin("gangs")
    w.line(f"%x = phi i64 [ {first}, %{before} ], [ %x_after, %gang_next ]")
    w.branch(w.value(f"icmp slt i64 %x, {last}"), "gang", "task_next")
    w.begin("gang")
    after = w.value(f"add i64 %x, {layout.width}")
    whole = w.value(f"icmp sle i64 {after}, {last}")
    w.branch(whole, "whole", "careful")
    w.begin("whole")
    if versions.assumptions:
        w.branch(piece_ok, "fast", "look", likely=True)
        w.begin("look")
        intervals = bounds(module, "%x", w.value(f"sub i64 {after}, 1"), y, z)
        w.branch(guard_code(module, body, versions.assumptions, intervals), "fast", "careful")
    else:
        w.jump("fast")
    w.begin("fast")
    gang = versions.gang(fast=True, place=place)
    versions.body(gang, None, "gang_next")
    w.begin("careful")
    _careful_gangs(module, versions, place, after, last)
    w.begin("gang_next")
    w.line(f"%x_after = add i64 %x, {layout.width}")
    w.jump("gangs")
    _close_task_loop(module)


def _careful_gangs(
    module: Module, versions: _Versions, place: dict[str, str], after: str, last: str
) -> None:
    """A gang's units the careful way, one vector at a time; ends with a jump to `gang_next`."""
    w, layout = module.w, module.layout
    if layout.parts == 1:
        gang = versions.gang(fast=False, place=place)
        versions.body(gang, lanes_until(gang, "%x", last), "gang_next")
        return
    stop = w.value(f"call i64 @llvm.smin.i64(i64 {after}, i64 {last})")
    w.jump("vectors")
    w.begin("vectors")
    w.line("%part = phi i64 [ %x, %careful ], [ %part_after, %vector_next ]")
    w.branch(w.value(f"icmp slt i64 %part, {stop}"), "vector", "gang_next")
    w.begin("vector")
    with module.laid_out(layout.narrow()):
        gang = versions.gang(fast=False, place={**place, layout.along: "%part"})
        versions.body(gang, lanes_until(gang, "%part", stop), "vector_next")
    w.begin("vector_next")
    w.line(f"%part_after = add i64 %part, {layout.lanes}")
    w.jump("vectors")


# ── cubes ───────────────────────────────────────────────────────────────────────────────────────


def _cubes(module: Module, versions: _Versions) -> None:
    w = module.w
    counts = [module.word(WordKind.CUBE_COUNT, axis=axis) for axis in range(3)]
    task = _task_loop(module, versions.kernel)
    place = {
        "cube": task,
        "cx": w.value(f"urem i64 {task}, {counts[0]}"),
        "cy": w.value(f"urem i64 {w.value(f'udiv i64 {task}, {counts[0]}')}, {counts[1]}"),
        "cz": w.value(f"udiv i64 {task}, {w.value(f'mul i64 {counts[0]}, {counts[1]}')}"),
    }
    if not versions.assumptions:
        _cube_body(module, versions, place, fast=False)
        _close_task_loop(module)
        return
    intervals = cube_intervals(module, place)
    test = guard_code(module, versions.kernel.body, versions.assumptions, intervals)
    w.branch(test, "fast", "careful", likely=True)
    for fast in (True, False):
        w.begin("fast" if fast else "careful")
        _cube_body(module, versions, place, fast=fast)
    _close_task_loop(module)


def _cube_body(module: Module, versions: _Versions, place: dict[str, str], *, fast: bool) -> None:
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
