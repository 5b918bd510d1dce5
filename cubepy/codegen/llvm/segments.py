"""Kernels with barriers in cubes of several gangs: segments between barriers, each a loop over the
gangs.

What is cube-level (`cube_level.py`) runs in scalar code between those loops. Values that later
segments need are recomputed if they follow from positions and arguments alone, else kept in the
frame; so are local variables, private arrays, and the masks of lanes that have left. A cube of one
gang needs none of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cubepy.codegen.llvm.control import emit_block, emit_exit, emit_for, emit_if, emit_while
from cubepy.codegen.llvm.cube_level import CubeLevel, find_cube_level
from cubepy.codegen.llvm.frame import Frame
from cubepy.codegen.llvm.gang import Gang, Mask, Module, Scope, Slot
from cubepy.codegen.llvm.layout import Layout
from cubepy.codegen.llvm.masking import lanes_until
from cubepy.codegen.llvm.positions import emit_positions
from cubepy.codegen.llvm.types import memory_type
from cubepy.codegen.llvm.walk import emit_op, emit_region
from cubepy.ir import (
    BOOL,
    INDEX,
    Kernel,
    Op,
    PrivateType,
    Region,
    Scalar,
    Trait,
    ops,
    walk,
)
from cubepy.ir.analyses import UNIFORM, VARYING, Uniformity
from cubepy.records import dataclass, field
from cubepy.target import Schedule, Topic

__all__ = ["emit_segmented", "needs_segments"]

_CONTROL = {ops.IF: emit_if, ops.FOR: emit_for, ops.WHILE: emit_while, ops.BLOCK: emit_block}


def needs_segments(kernel: Kernel, layout: Layout) -> bool:
    """Whether a barrier must bring several gangs together."""
    several = layout.schedule is Schedule.CUBES and layout.gangs > 1
    return several and any(op.opdef.has(Trait.BARRIER) for op in walk(kernel.body))


def _is_position(op: Op) -> bool:
    pure = op.opdef.has(Trait.PURE) and op.opdef is not ops.CONST
    return not op.operands and not op.regions and pure and op.type == INDEX


@dataclass(slots=True, kw_only=True)
class _Segments:
    """One version of a cube's code. `home` tells the segment (a number) each op stands in."""

    kernel: Kernel
    module: Module
    level: CubeLevel
    analysis: Uniformity
    inside: frozenset[Op]
    place: dict[str, str]
    frame: Frame
    cube: Gang
    home: dict[Op, int] = field(default_factory=dict)
    users: dict[Op, set[int]] = field(default_factory=dict)
    slot_users: dict[Op, set[int]] = field(default_factory=dict)
    masked: list[Op | None] = field(default_factory=list)
    parted: frozenset[Op | None] = frozenset()
    kernel_key: Op = field(default_factory=lambda: Op(opdef=ops.PARAM))

    # ── which segment needs what ────────────────────────────────────────────────────────────────

    def number(self, region: Region, counter: Iterator[int]) -> None:
        """Give every op of the gangs its segment, and note which segments use it."""
        current = next(counter)
        for op in region.ops:
            if self.splits(op):
                for inner in op.regions:
                    self.number(inner, counter)
                self.note_uses(op, -1)
                current = next(counter)
                continue
            for each in self.within(op):
                self.home[each] = current
                self.note_uses(each, current)

    def note_uses(self, op: Op, segment: int) -> None:
        for operand in op.operands:
            self.users.setdefault(operand, set()).add(segment)
            if operand.opdef is ops.LOCAL:
                self.slot_users.setdefault(operand, set()).add(segment)

    @staticmethod
    def within(op: Op) -> Iterator[Op]:
        yield op
        for region in op.regions:
            yield from walk(region)

    def splits(self, op: Op) -> bool:
        """Whether an op ends the segment: a barrier, cube-level control flow, a common exit."""
        if op.opdef.has(Trait.BARRIER) or op in self.level.controls:
            return True
        return op.opdef.has(Trait.EXIT) and (
            op.opdef is ops.YIELD or op in self.level.analysis.jumps
        )

    def recomputable(self, op: Op, depth: int = 32) -> bool:
        """Whether a value follows from positions, arguments and cube-level values by pure ops."""
        if op in self.level.values or op.opdef is ops.PARAM or _is_position(op):
            return op.opdef is not ops.PARAM or op in self.level.values
        if depth == 0 or not op.opdef.has(Trait.PURE) or (op.opdef is ops.CAST and op.type is BOOL):
            return False
        cheap = isinstance(op.type, Scalar) and (op.type.is_integer or op.type is BOOL)
        return cheap and all(self.recomputable(operand, depth - 1) for operand in op.operands)

    def kept(self, op: Op) -> bool:
        """Whether a value must go to the frame: other segments use it and cannot recompute it."""
        if op in self.level.values or not isinstance(op.type, Scalar) or op not in self.home:
            return False
        elsewhere = self.users.get(op, set()) - {self.home[op]}
        return bool(elsewhere) and not self.recomputable(op)

    # ── emission ────────────────────────────────────────────────────────────────────────────────

    def cube_region(self, cube: Gang, region: Region) -> None:
        """A region at cube level: segments, barriers, control flow, in order."""
        pending: list[Op] = []
        for op in region.ops:
            if cube.dead:
                return
            if not self.splits(op):
                pending.append(op)
                continue
            self.segment(pending)
            pending = []
            self.split(cube, op)
        if not cube.dead:
            self.segment(pending)

    def split(self, cube: Gang, op: Op) -> None:
        cube.w.loc = op.loc
        if op in self.level.controls:
            self.control(cube, op)
        elif op.opdef is ops.CUBE_UNIFORM:
            self.first_unit(cube, op)
        elif op.opdef.has(Trait.BARRIER):
            text = "splits the body: the gangs of a cube run up to here in turn"
            cube.chose(Topic.BARRIER, op, text)
        elif op.opdef.has(Trait.EXIT) and op.opdef is not ops.YIELD:
            emit_exit(cube, op)

    def control(self, cube: Gang, op: Op) -> None:
        masked = op in self.parted
        if masked:
            self.start_mask(op)
        _CONTROL[op.opdef](cube, op)
        if masked:
            self.masked.pop()

    def first_unit(self, cube: Gang, op: Op) -> None:
        """`cube_uniform`: what unit 0 computed, from the frame."""
        value, scalar = op.operands[0], op.type
        assert isinstance(scalar, Scalar)
        if value in cube.values:
            cube.define(op, (cube.scalar(value),))
            return
        gang = self.gang({**self.place, "u": "0", "gang": "0"})
        self.provide(gang, [value])
        names = gang.values[value].names
        first = names[0]
        if gang.values[value].shape.level == 2:
            first = cube.w.value(f"extractelement {gang.vec.type(scalar)} {first}, i64 0")
        cube.define(op, (first,))

    def gang(self, place: dict[str, str]) -> Gang:
        gang = Gang(
            module=self.module, analysis=self.analysis, emit_region=emit_region, inside=self.inside,
            place=place, values=dict(self.cube.values), segment=True,
        )  # fmt: skip
        gang.private_array = self.private_array
        return gang

    def private_array(self, gang: Gang, memory: Op) -> tuple[str, ...]:
        """Private arrays live in the frame, so that every segment finds them."""
        assert isinstance(memory.type, PrivateType)
        count = 1
        for extent in memory.type.shape:
            count *= extent
        row = gang.layout.lanes * memory.type.element.size
        size = count * memory.type.element.size
        gang.chose(Topic.MEMORY, memory, f"in memory, {size} bytes a unit, from barrier to barrier")
        assert memory_type(memory.type.element)
        return self.frame.array(gang, memory, -(-row * count // 64) * 64)

    def segment(self, body: list[Op]) -> None:
        """One segment: its cube-level ops, then a loop over the gangs for the rest."""
        rest = [op for op in body if not self.cube_pass(op)]
        if not any(self.has_effect(op) for op in rest):
            return
        with_loop = self.module.w
        head, inside, latch, end = (
            with_loop.fresh(h + ".") for h in ("gangs", "gang", "gang_next", "gangs_end")
        )
        w, layout = self.module.w, self.module.layout
        before, number, following = w.label, "%" + w.fresh("g"), "%" + w.fresh("g")
        w.jump(head)
        w.begin(head)
        w.line(f"{number} = phi i64 [ 0, %{before} ], [ {following}, %{latch} ]")
        w.branch(w.value(f"icmp slt i64 {number}, {layout.gangs}"), inside, end)
        w.begin(inside)
        first = w.value(f"mul i64 {number}, {layout.width}")
        self.run_gang(self.gang({**self.place, "u": first, "gang": number}), rest, latch)
        w.begin(latch)
        w.line(f"{following} = add i64 {number}, 1")
        w.jump(head)
        w.begin(end)

    def has_effect(self, op: Op) -> bool:
        """Whether a gang must run an op: what is pure and never kept is recomputed where it is
        used.
        """
        if op.opdef in (ops.LOCAL, ops.SHARED, ops.LOCAL_ARRAY):
            return False
        return not (op.opdef.has(Trait.PURE) and not self.kept(op))

    def cube_pass(self, op: Op) -> bool:
        """Do at cube level what belongs there; whether that was all of the op."""
        if op in self.level.values:
            emit_op(self.cube, op)
            return True
        if op.opdef in (ops.LOCAL, ops.STORE_LOCAL):
            slot = op if op.opdef is ops.LOCAL else op.operands[0]
            if slot in self.level.slots:
                emit_op(self.cube, op)
                return True
        for inner in self.within(op):  # what the variables are at this point, for nested reads
            if inner.opdef is ops.LOAD_LOCAL and inner.operands[0] in self.level.slots:
                emit_op(self.cube, inner)
        return False

    def run_gang(self, gang: Gang, body: list[Op], latch: str) -> None:
        """The code of one gang in one segment."""
        (done,) = gang.fresh_labels("done")
        gang.values = dict(self.cube.values)
        mask = self.entry_mask(gang)
        gang.mask = mask
        self.open_masks(gang, done, latch)
        every = [each for op in body for each in self.within(op)]
        local = set(every)
        outside = (operand for each in every for operand in each.operands)
        self.provide(gang, (op for op in outside if op not in local or _is_position(op)))
        slots = self.load_slots(gang, every)
        for op in body:
            if gang.dead:
                break
            if _is_position(op):  # made already if anything here uses it
                continue
            emit_op(gang, op)
            if self.kept(op) and not gang.dead:
                scalar = op.type
                assert isinstance(scalar, Scalar)
                value = gang.values[op]
                self.frame.store(gang, op, value.shape, scalar, value.names)
        if not gang.dead:
            gang.w.jump(done)
        gang.begin(done)
        self.store_slots(gang, slots, every)
        self.close_masks(gang)
        gang.w.jump(latch)

    # ── values from elsewhere ───────────────────────────────────────────────────────────────────

    def provide(self, gang: Gang, needed: Iterable[Op]) -> None:
        """Make values of other segments known to this gang."""
        for op in dict.fromkeys(needed):
            self.provide_one(gang, op)

    def provide_one(self, gang: Gang, op: Op) -> None:
        if op in gang.values or not isinstance(op.type, Scalar) or op not in self.home:
            return
        if self.kept(op):
            shape = self.analysis.shape(op)
            gang.define(op, self.frame.load(gang, op, shape, op.type))
        elif _is_position(op):
            emit_positions(gang, [op])
        elif self.recomputable(op):
            for operand in op.operands:
                self.provide_one(gang, operand)
            emit_op(gang, op)

    # ── local variables ─────────────────────────────────────────────────────────────────────────

    def framed(self, slot: Op) -> bool:
        """Whether a variable lives from one segment to another (or round a cube-level loop)."""
        return slot not in self.level.slots and len(self.slot_users.get(slot, ())) > 1

    def load_slots(self, gang: Gang, every: list[Op]) -> list[Op]:
        """Copy the variables this segment uses from the frame to the stack."""
        slots = [
            slot for slot in dict.fromkeys(
                each.operands[0]
                for each in every
                if each.opdef in (ops.LOAD_LOCAL, ops.STORE_LOCAL)
            )
            if self.framed(slot)
        ]  # fmt: skip
        for op in slots:
            slot = gang.slot(op)
            names = self.frame.load(gang, op, slot.shape, slot.scalar)
            self.write(gang, slot, names)
        return slots

    @staticmethod
    def write(gang: Gang, slot: Slot, names: tuple[str, ...]) -> None:
        if slot.shape.level == 2 and slot.scalar is BOOL:
            gang.store_mask(slot.cells, names)
            return
        type = gang.component_type(slot.shape, slot.scalar)
        for cell, name in zip(slot.cells, names, strict=True):
            gang.w.line(f"store {type} {name}, ptr {cell}, align 64")

    def store_slots(self, gang: Gang, slots: list[Op], every: list[Op]) -> None:
        """Copy back what this segment may have assigned."""
        assigned = {each.operands[0] for each in every if each.opdef is ops.STORE_LOCAL}
        for op in slots:
            if op not in assigned:
                continue
            slot = gang.slot(op)
            if slot.shape.level == 2 and slot.scalar is BOOL:
                names = gang.load_mask(slot.cells)
            else:
                type = gang.component_type(slot.shape, slot.scalar)
                names = tuple(
                    gang.w.value(f"load {type}, ptr {cell}, align 64") for cell in slot.cells
                )
            self.frame.store(gang, op, slot.shape, slot.scalar, names)

    # ── masks of lanes that have left a cube-level scope ────────────────────────────────────────

    def entry_mask(self, gang: Gang) -> Mask:
        if gang.layout.units % gang.layout.width == 0:
            return None
        return lanes_until(gang, gang.place["u"], str(gang.layout.units))

    def key(self, scope: Op | None) -> Op:
        return self.kernel_key if scope is None else scope

    def start_mask(self, scope: Op | None) -> None:
        """Every lane that gets to a scope is in it."""
        w, layout = self.module.w, self.module.layout
        head, inside, end = (w.fresh(h + ".") for h in ("masks", "mask", "masks_end"))
        before, number, following = w.label, "%" + w.fresh("g"), "%" + w.fresh("g")
        w.jump(head)
        w.begin(head)
        w.line(f"{number} = phi i64 [ 0, %{before} ], [ {following}, %{inside} ]")
        w.branch(w.value(f"icmp slt i64 {number}, {layout.gangs}"), inside, end)
        w.begin(inside)
        gang = self.gang(
            {**self.place, "gang": number, "u": w.value(f"mul i64 {number}, {layout.width}")}
        )
        if self.masked:
            mask: Mask = self.frame.load(gang, self.key(self.masked[-1]), VARYING, BOOL)
        else:
            mask = self.entry_mask(gang)
        self.frame.store(gang, self.key(scope), VARYING, BOOL, gang.mask_parts(mask))
        w.line(f"{following} = add i64 {number}, 1")
        w.jump(head)
        w.begin(end)
        self.masked.append(scope)

    def open_masks(self, gang: Gang, done: str, latch: str) -> None:
        """Load the masks of the scopes around; a gang whose lanes have all left is skipped."""
        gang.scopes.append(Scope(op=None, next=done, end=done))
        for scope in self.masked:
            cells = gang.mask_cells(self.frame.load(gang, self.key(scope), VARYING, BOOL))
            opened = Scope(op=scope, next=done, end=done, alive=cells, trip=cells)
            if scope is None:
                gang.scopes[0] = opened
            else:
                gang.scopes.append(opened)
        if self.masked:
            gang.mask = gang.load_mask(gang.scopes[-1].trip)
            (on,) = gang.fresh_labels("some")
            gang.w.branch(gang.any(gang.mask), on, latch)
            gang.w.begin(on)

    def close_masks(self, gang: Gang) -> None:
        for scope in gang.scopes:
            if scope.alive:
                self.frame.store(
                    gang, self.key(scope.op), VARYING, BOOL, gang.load_mask(scope.alive)
                )


def emit_segmented(
    kernel: Kernel, module: Module, analysis: Uniformity, inside: frozenset[Op],
    place: dict[str, str], end: str,
) -> None:  # fmt: skip
    """A cube of several gangs with barriers; ends with a jump to `end`."""
    level = find_cube_level(kernel)
    cube = Gang(module=module, analysis=level.analysis, emit_region=emit_region, place=place)
    run = _Segments(
        kernel=kernel, module=module, level=level, analysis=analysis, inside=inside, place=place,
        frame=Frame(module), cube=cube, parted=_parted(kernel, level),
    )  # fmt: skip
    cube.emit_region = run.cube_region
    for param in kernel.params:
        if isinstance(param.type, Scalar):
            cube.define(param, (module.scalar_argument(param),))
    emit_positions(
        cube,
        [
            op
            for op in walk(kernel.body)
            if _is_position(op) and level.analysis.shape(op) == UNIFORM
        ],
    )
    run.number(kernel.body, iter(range(1 << 30)))
    (done,) = cube.fresh_labels("cube_done")
    if None in run.parted:
        run.start_mask(None)
    cube.scopes.append(Scope(op=None, next=done, end=done))
    run.cube_region(cube, kernel.body)
    if not cube.dead:
        cube.w.jump(done)
    cube.begin(done)
    cube.w.jump(end)


def exits_by_gang(kernel: Kernel) -> frozenset[Op]:
    """Exits out of cube-level scopes that not all units take: they leave masks behind, never
    jump.
    """
    level = find_cube_level(kernel)
    return frozenset(op for op, _ in _uncommon_exits(kernel, level))


def _uncommon_exits(kernel: Kernel, level: CubeLevel) -> Iterator[tuple[Op, Op | None]]:
    def visit(region: Region, above: tuple[Op, ...]) -> Iterator[tuple[Op, Op | None]]:
        for op in region.ops:
            if op.opdef in (ops.RETURN, ops.LEAVE) and op not in level.analysis.jumps:
                blocks = [each for each in above if each.opdef is ops.BLOCK]
                target = blocks[-1] if op.opdef is ops.LEAVE else None
                if target is None or target in level.controls:
                    yield op, target
            for inner in op.regions:
                yield from visit(inner, (*above, op))

    return visit(kernel.body, ())


def _parted(kernel: Kernel, level: CubeLevel) -> frozenset[Op | None]:
    """Cube-level scopes that some lanes leave before others."""
    return frozenset(target for _, target in _uncommon_exits(kernel, level))
