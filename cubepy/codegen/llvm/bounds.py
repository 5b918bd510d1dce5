"""Bounds tests of an access, at the cheapest level that decides: one scalar, one a part, or masks.

An access that is unchecked, or that the fast version of the code may take for granted, has none.
`validate` reports the first lane outside to the launch's report block before it goes on as
`checked` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from cubepy.codegen.llvm.gang import Gang, Mask
from cubepy.codegen.llvm.notes import EDGES
from cubepy.codegen.llvm.reasons import unbounded_reason
from cubepy.codegen.llvm.reports import report_outside
from cubepy.codegen.llvm.values import Value
from cubepy.ir import I32, INDEX, U32, Op, Scalar, Trait, ops
from cubepy.records import dataclass
from cubepy.target import Topic

__all__ = ["Bounds", "all_inside", "bounds_of", "lane_limit", "lanes_below", "position_offset",
           "wholly_inside"]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Conditions for an access to be inside: all that are given must hold."""

    scalar: str | None = None
    each_part: tuple[str, ...] = ()
    masks: Mask = None

    @property
    def certain(self) -> bool:
        """Whether nothing is left to test."""
        return self.scalar is None and not self.each_part and self.masks is None


def bounds_of(gang: Gang, op: Op, memory: Op, indices: Sequence[Op]) -> Bounds:
    """The tests that an access needs."""
    check = op.attrs.get("check", "checked")
    gang.module.notes.op = op
    if check == "unchecked":
        return Bounds()
    if op in gang.inside:
        gang.accesses(memory, "tested once for a whole row or cube, not here", Topic.BOUNDS)
        return Bounds()
    if op in gang.ranged:
        gang.accesses(memory, "tested once ahead of the loop, by its range", Topic.BOUNDS)
        return Bounds()
    gang.accesses(memory, _test_reason(gang, op), Topic.BOUNDS)
    scalar: str | None = None
    parts: tuple[str, ...] = ()
    masks: Mask = None
    for axis, index in enumerate(indices):
        extent = gang.module.shape_of(memory, axis)
        shape = gang.values[index].shape
        if shape.level == 0:
            test = _scalar_test(gang, index, extent)
            scalar = test if scalar is None else gang.w.value(f"and i1 {scalar}, {test}", "in")
        elif shape.level == 1 and shape.stride == 0:
            tests = tuple(
                gang.w.value(f"icmp ult i64 {base}, {extent}", "in") for base in gang.bases(index)
            )
            parts = (
                tests
                if not parts
                else tuple(
                    gang.w.value(f"and i1 {a}, {b}", "in")
                    for a, b in zip(parts, tests, strict=True)
                )
            )
        else:
            masks = gang.mask_and(masks, _lane_tests(gang, index, extent))
    bounds = Bounds(scalar=scalar, each_part=parts, masks=masks)
    if check == "validate":
        outside = gang.mask_and_not(gang.mask, combined(gang, bounds))
        report_outside(gang, op, memory, indices, outside)
    return bounds


def _test_reason(gang: Gang, op: Op) -> str:
    """That an access is tested by itself, and why where that could be otherwise."""
    notes = gang.module.notes
    if notes.version == EDGES:
        return "tested at each access"
    return f"tested at each access: {unbounded_reason(notes.unbounded.get(op))}"


def wholly_inside(gang: Gang, op: Op, memory: Op, indices: Sequence[Op]) -> str | None:
    """Whether every lane of the gang is inside (i1), by the ends of each part alone; None where
    that is no cheaper, or the access needs no test.

    Worth asking where the fast version of the code has no answer: in loops, of subscripts that
    nothing bounds ahead, and where there is no such version.
    """
    if op.attrs.get("check", "checked") != "checked" or op in gang.inside or op in gang.ranged:
        return None
    if not gang.module.target.does("whole") or not (gang.asks or _unbounded(gang, op)):
        return None
    gang.module.notes.op = op
    shapes = [gang.values[index].shape for index in indices]
    if not any(shape.stride or shape.level == 2 for shape in shapes):
        return None
    if any(shape.level == 2 for shape in shapes) and not _unbounded(gang, op):
        return None
    tests: dict[str, None] = {}
    for axis, index in enumerate(indices):
        tests.update(dict.fromkeys(all_inside(gang, index, gang.module.shape_of(memory, axis))))
    total: str | None = None
    for test in tests:
        total = test if total is None else gang.w.value(f"and i1 {total}, {test}", "in")
    if total is not None:
        gang.accesses(memory, _whole_reason(gang, op, indices), Topic.BOUNDS)
    return total


def _whole_reason(gang: Gang, op: Op, indices: Sequence[Op]) -> str:
    """What one test asks, and why nothing is tested ahead where that could be otherwise."""
    gathers = any(gang.values[index].shape.level == 2 for index in indices)
    told = f"one test of a vector's {'units' if gathers else 'ends'}"
    if not _unbounded(gang, op):
        return told
    return f"{told}: {unbounded_reason(gang.module.notes.unbounded[op])}"


def all_inside(gang: Gang, index: Op, extent: str) -> tuple[str, ...]:
    """Tests (i1) that every lane's subscript is inside, if all of them hold."""
    varies = gang.values[index].shape.level == 2
    return (_vector_test if varies else _whole_tests)(gang, index, extent)


# So many accesses of a kernel are written out twice; more would take too long to compile.
_FEW = 12


def _unbounded(gang: Gang, op: Op) -> bool:
    """Whether an access is tested in the usual version too, which has no test for it ahead."""
    notes = gang.module.notes
    return op in notes.unbounded and notes.version != EDGES and len(notes.unbounded) <= _FEW


def _vector_test(gang: Gang, index: Op, extent: str) -> tuple[str, ...]:
    """One test of all lanes: their maximum, unsigned, in the width that the subscript is read in,
    since a lane below 0 is among the largest then.
    """
    w, scalar = gang.w, index.type
    assert isinstance(scalar, Scalar)
    read, limit = index, extent
    source = index.operands[0] if index.opdef is ops.CAST else index
    # behind a barrier there is only what was kept
    if source is not index and source.type in (I32, U32) and source in gang.values:
        read = source
        most = (1 << 31) if read.type is I32 else (1 << 32) - 1
        scalar, limit = U32, gang.module.narrow_limit(extent, most)
    total = ""
    for vector in dict.fromkeys(gang.vectors(read)):
        total = gang.vec.call("umax", scalar, total, vector) if total else vector
    limits = gang.vec.everywhere(f"i{scalar.bits}", limit)
    outside = gang.vec.compare("icmp uge", scalar, total, limits)
    return (w.value(f"xor i1 {gang.any((outside,))}, true", "in"),)


def _whole_tests(gang: Gang, index: Op, extent: str) -> tuple[str, ...]:
    """One test a part, made once for all accesses that use the subscript: its lowest lane lies
    below the extent less what the lanes span. Unsigned, so a lane below 0 fails it too.
    """
    value = gang.values[index]
    if extent not in value.wholes:
        with gang.w.at(value.hook) if value.hook is not None else nullcontext():
            value.wholes[extent] = _make_whole_tests(gang, value, extent)
    return value.wholes[extent]


def _make_whole_tests(gang: Gang, value: Value, extent: str) -> tuple[str, ...]:
    span = (gang.layout.lanes - 1) * value.shape.stride
    room = extent
    if span:
        room = gang.one.call("ssub.sat", INDEX, extent, str(abs(span)))
        room = gang.one.call("smax", INDEX, room, "0")
    lowest = value.names
    if span < 0:
        lowest = tuple(gang.w.value(f"add i64 {name}, {span}") for name in lowest)
    return tuple(gang.w.value(f"icmp ult i64 {name}, {room}", "in") for name in lowest)


def _scalar_test(gang: Gang, index: Op, extent: str) -> str:
    """Whether a subscript that all lanes share is inside, asked behind its definition."""
    value = gang.values[index]
    if extent not in value.windows:
        with gang.w.at(value.hook) if value.hook is not None else nullcontext():
            test = gang.w.value(f"icmp ult i64 {gang.scalar(index)}, {extent}", "in")
        value.windows[extent] = (test,)
    return value.windows[extent][0]


def _lane_tests(gang: Gang, index: Op, extent: str) -> tuple[str, ...]:
    """Masks of lanes inside; made once, behind the subscript's definition, for all accesses that
    use it.
    """
    value = gang.values[index]
    if extent in value.windows:
        return value.windows[extent]
    if value.hook is None or gang.beside:
        return _make_lane_tests(gang, index, extent)
    with gang.w.at(value.hook):
        value.windows[extent] = _make_lane_tests(gang, index, extent)
    return value.windows[extent]


def _make_lane_tests(gang: Gang, index: Op, extent: str) -> tuple[str, ...]:
    value = gang.values[index]
    if value.shape.level == 1 and value.shape.stride == 1:
        offset = position_offset(index)
        return tuple(
            _window(gang, base, extent, may_be_negative=offset is None or offset < 0)
            for base in value.names
        )
    limit = gang.vec.everywhere("i64", extent)
    return tuple(
        gang.vec.compare("icmp ult", INDEX, vector, limit) for vector in gang.vectors(index)
    )


def position_offset(op: Op, depth: int = 8) -> int | None:
    """How far a value is from a position, if it is one give or take small constants (no lane
    wraps).
    """
    if not op.operands:
        return 0 if op.opdef.has(Trait.VARYING) else None
    if depth == 0 or op.opdef not in (ops.ADD, ops.SUB) or op.operands[1].opdef is not ops.CONST:
        return None
    constant = op.operands[1].attrs["value"]
    inner = position_offset(op.operands[0], depth - 1)
    if inner is None or not isinstance(constant, int) or abs(constant) >= 1 << 32:
        return None
    return inner + constant if op.opdef is ops.ADD else inner - constant


def lane_limit(gang: Gang, base: str, bound: str) -> str:
    """The number of lanes l with base + l < bound, 0 to L, as i32; saturating, so no
    wrap-around.
    """
    room = gang.one.call("ssub.sat", INDEX, bound, base)
    low = gang.one.call("smax", INDEX, room, "0")
    lanes = gang.one.call("smin", INDEX, low, str(gang.layout.lanes))
    return gang.w.value(f"trunc i64 {lanes} to i32")


def lanes_below(gang: Gang, limit: str) -> str:
    """The mask of lanes whose number is below an i32."""
    wide, type = gang.vec.everywhere("i32", limit), gang.vec.integer(32)
    ramp = "<" + ", ".join(f"i32 {lane}" for lane in range(gang.layout.lanes)) + ">"
    return gang.w.value(f"icmp ult {type} {ramp}, {wide}")


def _window(gang: Gang, base: str, extent: str, *, may_be_negative: bool) -> str:
    """Lanes l with 0 <= base + l < extent."""
    below = lanes_below(gang, lane_limit(gang, base, extent))
    if not may_be_negative:
        return below
    negative = lanes_below(gang, lane_limit(gang, base, "0"))
    return gang.vec.both(below, gang.w.value(f"xor {gang.mask_type} {negative}, {gang.ones()}"))


def combined(gang: Gang, bounds: Bounds) -> tuple[str, ...]:
    """All conditions as masks."""
    masks: Mask = bounds.masks
    if bounds.each_part:
        masks = gang.mask_and(
            masks, tuple(gang.vec.everywhere("i1", flag) for flag in bounds.each_part)
        )
    if bounds.scalar is not None:
        masks = gang.mask_and(masks, (gang.vec.everywhere("i1", bounds.scalar),) * gang.parts)
    return gang.mask_parts(masks)
