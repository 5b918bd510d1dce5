"""The walk over a kernel's body: each op goes to the file that knows it."""

from __future__ import annotations

from collections.abc import Callable

from cubepy.codegen.llvm.along import divide_along
from cubepy.codegen.llvm.atomics import emit_atomic, emit_fence
from cubepy.codegen.llvm.bounds import lane_limit, lanes_below, position_offset
from cubepy.codegen.llvm.control import emit_block, emit_exit, emit_for, emit_if, emit_while
from cubepy.codegen.llvm.elementwise import ELEMENTWISE, FAST
from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.interleaved import emit_neighbours, neighbours_of
from cubepy.codegen.llvm.lanes import Lanes
from cubepy.codegen.llvm.memory import emit_load, emit_store
from cubepy.codegen.llvm.native import emit_intrinsic
from cubepy.codegen.llvm.plane import emit_plane
from cubepy.codegen.llvm.reports import emit_assert, emit_check, emit_print
from cubepy.codegen.llvm.straight import emit_straight
from cubepy.codegen.llvm.types import constant
from cubepy.codegen.llvm.values import each_part
from cubepy.errors import VerifyError
from cubepy.ir import BOOL, INDEX, Op, OpDef, Region, Scalar, Trait, ops
from cubepy.ir.analyses import FOLLOWED, UNIFORM
from cubepy.records import replace
from cubepy.target import Topic, WordKind

__all__ = ["emit_op", "emit_region"]

_LONGEST_BLOCK = 1000
_FLOOR_DIVISIONS = (ops.FLOOR_DIV, ops.FLOOR_MOD)
_COMPARISONS = (ops.LT, ops.LE, ops.GT, ops.GE)


def emit_region(gang: Gang, region: Region) -> None:
    """Every op of a region, up to where no lane goes on."""
    neighbours = neighbours_of(region) if gang.module.target.does("neighbours") else {}
    for op in region.ops:
        if gang.dead:
            return
        gang.w.loc = op.loc
        if gang.w.block_length > _LONGEST_BLOCK:
            _split(gang)
        if op in neighbours and emit_neighbours(gang, neighbours[op], op):
            continue
        emit_op(gang, op)


def _split(gang: Gang) -> None:
    """End the block here: the time of LLVM's scheduler grows with the square of a block's length.

    A plain jump would be taken out again. This one depends on a number that LLVM is not told.
    """
    w = gang.w
    number = w.value(f'call i64 asm "", "=r,0"(i64 {w.fresh("")})')
    following = w.fresh("more.")
    w.branch(w.value(f"icmp ne i64 {number}, 0"), following, "finish", likely=True)
    w.begin(following)


def emit_op(gang: Gang, op: Op) -> None:
    """One op, unless its value is there: positions, and what ran at cube level."""
    gang.w.loc = op.loc
    if op in gang.values:
        return
    if op in gang.analysis.assumed:
        gang.define(op, ("true" if gang.analysis.assumed[op] else "false",))
    elif op.opdef in _EMIT:
        _EMIT[op.opdef](gang, op)
    elif op.opdef.name in ELEMENTWISE:
        emit_pure(gang, op)
    elif op.opdef.has(Trait.ATOMIC):
        emit_atomic(gang, op)
    elif op.opdef.has(Trait.PLANE):
        emit_plane(gang, op)
    else:
        raise VerifyError(
            f"the CPU emitter has no {op.opdef.name}; a pass should have expanded it ({op.loc})"
        )


def _nothing(gang: Gang, op: Op) -> None:
    """Memory has its place; `yield` is its loop's."""


def _barrier(gang: Gang, op: Op) -> None:
    """One gang is in step with itself."""
    gang.chose(Topic.BARRIER, op, "no code: the units of a gang are in step")


def _local(gang: Gang, op: Op) -> None:
    if op in gang.analysis.slots:
        gang.slot(op)


def _length(gang: Gang, op: Op) -> None:
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    gang.define(op, (gang.module.shape_of(op.operands[0], axis),))


def _stride(gang: Gang, op: Op) -> None:
    axis, number = op.attrs["axis"], gang.module.params[op.operands[0]]
    assert isinstance(axis, int)
    gang.define(op, (gang.module.word(WordKind.STRIDE, number, axis),))


def _first_unit(gang: Gang, op: Op) -> None:
    """`cube_uniform` in a cube of one gang."""
    scalar = op.type
    assert isinstance(scalar, Scalar)
    value = gang.values[op.operands[0]]
    if value.shape.level < 2:
        gang.define(op, (value.names[0],))
        return
    first = gang.w.value(f"extractelement {gang.vec.type(scalar)} {value.names[0]}, i64 0")
    gang.define(op, (first,))


def _constant(gang: Gang, op: Op) -> None:
    scalar, value = op.type, op.attrs["value"]
    assert isinstance(scalar, Scalar)
    assert isinstance(value, int | float | bool)
    gang.define(op, (constant(scalar, value),))


def emit_pure(gang: Gang, op: Op) -> None:
    """An element-wise op at the level its shape allows: once, once a part, or on vectors."""
    if op.opdef in FOLLOWED and gang.retreat and emit_straight(gang, op):
        return
    shape, emit = gang.analysis.shape(op), ELEMENTWISE[op.opdef.name]
    flags = gang.module.fast_math if op.opdef.name in FAST and "strict" not in op.attrs else ""
    if shape == UNIFORM:
        operands = [gang.scalar(operand) for operand in op.operands]
        gang.define(op, (emit(_flagged(gang.one, flags), op, operands),))
        return
    if shape.level == 2 and op.opdef in _COMPARISONS and _lane_comparison(gang, op):
        return
    if op.opdef in _FLOOR_DIVISIONS and shape.level == 2 and divide_along(gang, op):
        return
    if shape.level == 1:
        lanes, columns = gang.one, [gang.bases(operand) for operand in op.operands]
    else:
        lanes, columns = gang.vec, [gang.vectors(operand) for operand in op.operands]
    lanes = _flagged(lanes, flags)
    gang.define(op, each_part(lambda *row: emit(lanes, op, list(row)), *columns))


def _flagged(lanes: Lanes, flags: str) -> Lanes:
    return lanes if lanes.flags == flags else replace(lanes, flags=flags)


# ── comparisons of positions: a count of lanes instead of 64-bit vectors ────────────────────────


def _lane_comparison(gang: Gang, op: Op) -> bool:
    """Position < bound as lane < bound - base. Gives False where the operands are not of that
    kind.
    """
    left, right = op.operands
    order = op.opdef
    if left.type is not INDEX:
        return False
    if gang.analysis.shape(left).stride != 1:
        left, right = right, left
        order = {ops.LT: ops.GT, ops.GT: ops.LT, ops.LE: ops.GE, ops.GE: ops.LE}[order]
    shapes = gang.analysis.shape(left), gang.analysis.shape(right)
    if (
        shapes[0].stride != 1
        or shapes[1].level == 2
        or shapes[1].stride
        or position_offset(left) is None
    ):
        return False
    masks = []
    for base, bound in zip(gang.bases(left), gang.bases(right), strict=True):
        limit = bound
        if order in (ops.LE, ops.GT):
            limit = gang.one.call("sadd.sat", INDEX, bound, "1")
        mask = lanes_below(gang, lane_limit(gang, base, limit))
        if order in (ops.GT, ops.GE):
            mask = gang.w.value(f"xor {gang.mask_type} {mask}, {gang.ones()}")
        masks.append(mask)
    gang.define(op, tuple(masks))
    return True


# ── local variables ─────────────────────────────────────────────────────────────────────────────


def load_slot(gang: Gang, op: Op) -> None:
    """The value of a variable now."""
    slot = gang.slot(op.operands[0])
    if slot.shape.level == 2 and slot.scalar is BOOL:
        gang.define(op, gang.load_mask(slot.cells))
        return
    type = gang.component_type(slot.shape, slot.scalar)
    names = tuple(gang.w.value(f"load {type}, ptr {cell}, align 64") for cell in slot.cells)
    gang.define(op, names)


def store_slot(gang: Gang, op: Op) -> None:
    """An assignment; lanes that are off keep theirs where they can still read it."""
    slot, value = gang.slot(op.operands[0]), op.operands[1]
    if slot.shape.level < 2:
        names = (gang.scalar(value),) if slot.shape.level == 0 else gang.bases(value)
        write_cells(gang, slot.cells, gang.component_type(slot.shape, slot.scalar), names)
        return
    names = gang.vectors(value)
    blended = op in gang.analysis.blends and gang.mask is not None
    if slot.scalar is BOOL:
        if blended:
            old = gang.load_mask(slot.cells)
            names = tuple(
                _blend(gang, BOOL, n, o, m)
                for n, o, m in zip(names, old, gang.mask or (), strict=True)
            )
        gang.store_mask(slot.cells, names)
        return
    type = gang.component_type(slot.shape, slot.scalar)
    if blended:
        old = tuple(gang.w.value(f"load {type}, ptr {cell}, align 64") for cell in slot.cells)
        names = tuple(
            _blend(gang, slot.scalar, n, o, m)
            for n, o, m in zip(names, old, gang.mask or (), strict=True)
        )
    write_cells(gang, slot.cells, type, names)


def _blend(gang: Gang, scalar: Scalar, new: str, old: str, mask: str) -> str:
    return gang.vec.select(mask, scalar, new, old)


def write_cells(gang: Gang, cells: tuple[str, ...], type: str, names: tuple[str, ...]) -> None:
    """One value a cell."""
    for cell, name in zip(cells, names, strict=True):
        gang.w.line(f"store {type} {name}, ptr {cell}, align 64")


_EMIT: dict[OpDef, Callable[[Gang, Op], None]] = {
    ops.IF: emit_if,
    ops.FOR: emit_for,
    ops.WHILE: emit_while,
    ops.BLOCK: emit_block,
    ops.BREAK: emit_exit,
    ops.CONTINUE: emit_exit,
    ops.LEAVE: emit_exit,
    ops.RETURN: emit_exit,
    ops.YIELD: _nothing,
    ops.CONST: _constant,
    ops.LENGTH: _length,
    ops.STRIDE: _stride,
    ops.LOAD: emit_load,
    ops.STORE: emit_store,
    ops.SHARED: _nothing,
    ops.LOCAL_ARRAY: _nothing,
    ops.LOCAL: _local,
    ops.LOAD_LOCAL: load_slot,
    ops.STORE_LOCAL: store_slot,
    ops.SYNC_CUBE: _barrier,
    ops.SYNC_STORAGE: _barrier,
    ops.FENCE: emit_fence,
    ops.CUBE_UNIFORM: _first_unit,
    ops.INTRINSIC: emit_intrinsic,
    ops.ASSERT: emit_assert,
    ops.CHECK_BOUNDS: emit_check,
    ops.PRINT: emit_print,
}
