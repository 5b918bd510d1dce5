"""Plane operations: a part is a plane, so they are shuffles within one vector.

Lanes that do not exist in a partial last plane take part as the identity of the operation. Float
scans add in lane order; reductions are in `plane_reductions.py`.
"""

from __future__ import annotations

from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.plane_reductions import combine, existing, reduce_planes
from cubepy.codegen.llvm.types import memory_type, register_type, typed_constant
from cubepy.ir import BOOL, PLANE_REDUCTIONS, PLANE_SCANS, Op, Scalar, neutral_of, ops

__all__ = ["emit_plane"]

_SHUFFLES = (ops.PLANE_BROADCAST, ops.PLANE_SHUFFLE, ops.PLANE_SHUFFLE_XOR, ops.PLANE_SHUFFLE_UP,
             ops.PLANE_SHUFFLE_DOWN)  # fmt: skip


def emit_plane(gang: Gang, op: Op) -> None:
    """Any plane op."""
    row = op.opdef
    if row is ops.SYNC_PLANE:
        return
    if row in PLANE_REDUCTIONS:
        gang.define(op, reduce_planes(gang, op))
    elif row in PLANE_SCANS:
        gang.define(op, tuple(_scan(gang, op, number) for number in range(gang.parts)))
    elif row in _SHUFFLES:
        gang.define(op, tuple(_shuffle(gang, op, number) for number in range(gang.parts)))
    elif row is ops.PLANE_ELECT:
        gang.define(op, tuple(_elect(gang, number) for number in range(gang.parts)))
    else:
        gang.define(op, tuple(_vote(gang, op, number) for number in range(gang.parts)))


def _scan(gang: Gang, op: Op, number: int) -> str:
    (row, first), scalar = PLANE_SCANS[op.opdef], op.type
    assert isinstance(scalar, Scalar)
    type, element = gang.vec.type(scalar), register_type(scalar)
    neutral = neutral_of(row, scalar)
    value = existing(gang, number, scalar, gang.vectors(op.operands[0])[number], neutral)
    running, result = "", "poison"
    start = "" if first is None else typed_constant(scalar, first, 0)
    for lane in range(gang.layout.lanes):
        item = gang.w.value(f"extractelement {type} {value}, i64 {lane}")
        following = item if lane == 0 else combine(gang, row, scalar, running, item, lanes=False)
        written = following if first is None else (running or start)
        result = gang.w.value(f"insertelement {type} {result}, {element} {written}, i64 {lane}")
        running = following
    return result


def _shuffle(gang: Gang, op: Op, number: int) -> str:
    """The value of another lane; a lane that is missing or out of range: the own value."""
    scalar, counter = op.type, op.operands[1].type
    assert isinstance(scalar, Scalar)
    assert isinstance(counter, Scalar)
    lanes, w = gang.layout.lanes, gang.w
    value = gang.vectors(op.operands[0])[number]
    source = _source_lane(gang, op, counter, gang.vectors(op.operands[1])[number])
    type32 = gang.vec.integer(32)
    inside = w.value(f"icmp ult {type32} {source}, {gang.vec.int_const(32, lanes)}")
    own = _ramp(lanes)
    safe = w.value(f"select {gang.mask_type} {inside}, {type32} {source}, {type32} {own}")
    if gang.mask is not None:
        safe = _skip_missing(gang, number, safe, own)
    return _pick(gang, scalar, value, safe)


def _ramp(lanes: int) -> str:
    return "<" + ", ".join(f"i32 {lane}" for lane in range(lanes)) + ">"


def _source_lane(gang: Gang, op: Op, counter: Scalar, operand: str) -> str:
    """The lane number to read, as i32; anything out of range stays out of range."""
    w, type32, wide = gang.w, gang.vec.integer(32), gang.vec.type(counter)
    clipped = operand
    if counter.bits == 64:  # keep large numbers large when they are cut to 32 bits
        limit = gang.vec.const(counter, 1 << 20)
        low = gang.vec.call("umin", counter, operand, limit) if not counter.is_signed else operand
        if counter.is_signed:
            low = gang.vec.call("smin", counter, operand, limit)
            low = gang.vec.call("smax", counter, low, gang.vec.const(counter, -(1 << 20)))
        clipped = w.value(f"trunc {wide} {low} to {type32}")
    elif counter.bits < 32:
        clipped = w.value(f"{'sext' if counter.is_signed else 'zext'} {wide} {operand} to {type32}")
    own, row = _ramp(gang.layout.lanes), op.opdef
    if row is ops.PLANE_SHUFFLE_XOR:
        return w.value(f"xor {type32} {own}, {clipped}")
    if row is ops.PLANE_SHUFFLE_UP:
        return w.value(f"sub {type32} {own}, {clipped}")
    if row is ops.PLANE_SHUFFLE_DOWN:
        return w.value(f"add {type32} {own}, {clipped}")
    return clipped


def _skip_missing(gang: Gang, number: int, source: str, own: str) -> str:
    assert gang.mask is not None
    lanes, w, type32 = gang.layout.lanes, gang.w, gang.vec.integer(32)
    flags = w.value(f"zext {gang.mask_type} {gang.mask[number]} to {gang.vec.integer(8)}")
    picked = _pick_raw(gang, "i8", 1, flags, source)
    there = w.value(f"icmp ne {gang.vec.integer(8)} {picked}, zeroinitializer")
    assert lanes
    return w.value(f"select {gang.mask_type} {there}, {type32} {source}, {type32} {own}")


def _pick(gang: Gang, scalar: Scalar, value: str, source: str) -> str:
    if scalar is BOOL:
        flags = gang.w.value(f"zext {gang.mask_type} {value} to {gang.vec.integer(8)}")
        picked = _pick_raw(gang, "i8", 1, flags, source)
        return gang.w.value(f"icmp ne {gang.vec.integer(8)} {picked}, zeroinitializer")
    return _pick_raw(gang, memory_type(scalar), scalar.size, value, source)


def _pick_raw(gang: Gang, element: str, size: int, value: str, source: str) -> str:
    """value[source] lane by lane through the stack (LLVM has no portable run-time permutation)."""
    lanes, w = gang.layout.lanes, gang.w
    type = f"<{lanes} x {element}>"
    cell = gang.module.alloca(type)
    w.line(f"store {type} {value}, ptr {cell}, align 64")
    result = "poison"
    for lane in range(lanes):
        number = w.value(f"extractelement {gang.vec.integer(32)} {source}, i64 {lane}")
        pointer = w.value(f"getelementptr {element}, ptr {cell}, i32 {number}")
        item = w.value(f"load {element}, ptr {pointer}, align {size}")
        result = w.value(f"insertelement {type} {result}, {element} {item}, i64 {lane}")
    return result


def _vote(gang: Gang, op: Op, number: int) -> str:
    lanes, w = gang.layout.lanes, gang.w
    votes = gang.vectors(op.operands[0])[number]
    existing = None if gang.mask is None else gang.mask[number]
    if op.opdef is ops.PLANE_ALL:
        against = w.value(f"xor {gang.mask_type} {votes}, {gang.ones()}")
        counted = against if existing is None else gang.vec.both(existing, against)
        return w.value(f"xor i1 {gang.any((counted,))}, true")
    counted = votes if existing is None else gang.vec.both(existing, votes)
    if op.opdef is ops.PLANE_ANY:
        return gang.any((counted,))
    bits = w.value(f"bitcast {gang.mask_type} {counted} to i{lanes}")
    return bits if lanes == 64 else w.value(f"zext i{lanes} {bits} to i64")


def _elect(gang: Gang, number: int) -> str:
    """The lowest lane that is on: bits & -bits."""
    lanes, w = gang.layout.lanes, gang.w
    existing = gang.ones() if gang.mask is None else gang.mask[number]
    bits = w.value(f"bitcast {gang.mask_type} {existing} to i{lanes}")
    lowest = w.value(f"and i{lanes} {bits}, {w.value(f'sub i{lanes} 0, {bits}')}")
    return w.value(f"bitcast i{lanes} {lowest} to {gang.mask_type}")
