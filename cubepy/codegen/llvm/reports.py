"""`assert`, `print` and accesses outside: code that writes to the launch's report block.

The block is described in `cubepy/target/reports.py`. What is rare stands out of line, in functions
that a module carries where it needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cubepy.codegen.llvm.gang import Gang, Module
from cubepy.codegen.llvm.lane_loop import each_lane, spill
from cubepy.codegen.llvm.types import register_type
from cubepy.ir import BOOL, INDEX, Op, scalar_type
from cubepy.target import Fault, FaultKind, Print, WordKind, reports

__all__ = ["emit_assert", "emit_check", "emit_print", "lowest", "report_outside", "report_text"]

_CLAIM, _OUTSIDE, _PRINT = "@cubepy.claim", "@cubepy.outside", "@cubepy.print"

_FAULT_TEXT = f"""
; claims the block's head for a fault: its number and three words; whether it was the first
define internal i1 {_CLAIM}(ptr %block, i64 %fault, i64 %a, i64 %b, i64 %c) noinline cold {{
entry:
  %none = icmp eq ptr %block, null
  br i1 %none, label %late, label %claim
claim:
  %pair = cmpxchg ptr %block, i64 0, i64 %fault monotonic monotonic
  %won = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %won, label %write, label %late
write:
  %p1 = getelementptr i64, ptr %block, i64 1
  store i64 %a, ptr %p1
  %p2 = getelementptr i64, ptr %block, i64 2
  store i64 %b, ptr %p2
  %p3 = getelementptr i64, ptr %block, i64 3
  store i64 %c, ptr %p3
  ret i1 true
late:
  ret i1 false
}}
; reports axis, subscript and extent unless that axis is inside
define internal void {_OUTSIDE}(ptr %block, i64 %fault, i64 %axis, i64 %subscript, i64 %extent)
noinline cold {{
entry:
  %inside = icmp ult i64 %subscript, %extent
  br i1 %inside, label %done, label %claim
claim:
  %won = call i1 {_CLAIM}(ptr %block, i64 %fault, i64 %axis, i64 %subscript, i64 %extent)
  br label %done
done:
  ret void
}}
"""
_PRINT_TEXT = f"""
; room for a print of %size words, its head written; gives the place of its values, or null
define internal ptr {_PRINT}(ptr %block, i64 %number, i64 %a, i64 %b, i64 %c, i64 %size) noinline {{
entry:
  %none = icmp eq ptr %block, null
  br i1 %none, label %lost, label %ask
ask:
  %used = getelementptr i64, ptr %block, i64 {reports.PRINT_USED}
  %start = atomicrmw add ptr %used, i64 %size monotonic
  %end = add i64 %start, %size
  %capacity = getelementptr i64, ptr %block, i64 {reports.PRINT_SIZE}
  %room = load i64, ptr %capacity
  %fits = icmp ule i64 %end, %room
  br i1 %fits, label %write, label %drop
drop:
  %count = getelementptr i64, ptr %block, i64 {reports.PRINT_DROPPED}
  %before = atomicrmw add ptr %count, i64 1 monotonic
  br label %lost
write:
  %first = add i64 %start, {reports.HEAD_WORDS}
  %p0 = getelementptr i64, ptr %block, i64 %first
  store i64 %number, ptr %p0
  %p1 = getelementptr i64, ptr %p0, i64 1
  store i64 %a, ptr %p1
  %p2 = getelementptr i64, ptr %p0, i64 2
  store i64 %b, ptr %p2
  %p3 = getelementptr i64, ptr %p0, i64 3
  store i64 %c, ptr %p3
  %values = getelementptr i64, ptr %p0, i64 {reports.PRINT_HEAD}
  ret ptr %values
lost:
  ret ptr null
}}
"""


def report_text(module: Module) -> Iterator[str]:
    """The functions that a module's reports call."""
    if module.faults:
        yield _FAULT_TEXT
    if module.prints:
        yield _PRINT_TEXT


# ── faults ──────────────────────────────────────────────────────────────────────────────────────


def report_outside(
    gang: Gang, op: Op, memory: Op, indices: Sequence[Op], outside: tuple[str, ...]
) -> None:
    """Report the first lane that is on and outside, if there is one."""
    module, w = gang.module, gang.w
    text, axes = memory.name or "array", len(indices)
    module.faults.append(Fault(kind=FaultKind.BOUNDS, text=text, loc=op.loc, axes=axes))
    number, block = len(module.faults), module.word(WordKind.REPORT)
    bad, good = gang.fresh_labels("outside", "inside")
    w.branch(gang.any(outside), bad, good)
    w.begin(bad)
    some = [gang.any((part,)) for part in outside]
    for axis, index in enumerate(indices):
        subscript = lowest(gang, gang.vectors(index), outside, some)
        extent = module.shape_of(memory, axis)
        w.line(
            f"call void {_OUTSIDE}(ptr {block}, i64 {number}, i64 {axis}, i64 {subscript}, "
            f"i64 {extent})"
        )
    w.jump(good)
    w.begin(good)


def emit_check(gang: Gang, op: Op) -> None:
    """`check_bounds`: reports the first lane whose index is outside."""
    index, extent = op.operands
    module, w = gang.module, gang.w
    module.faults.append(Fault.of_check(op))
    number, block = len(module.faults), module.word(WordKind.REPORT)
    inside = tuple(
        gang.vec.both(
            gang.vec.compare("icmp sge", INDEX, at, gang.vec.const(INDEX, 0)),
            gang.vec.compare("icmp slt", INDEX, at, end),
        )
        for at, end in zip(gang.vectors(index), gang.vectors(extent), strict=True)
    )
    outside = gang.mask_and_not(gang.mask, inside)
    bad, good = gang.fresh_labels("outside", "inside")
    w.branch(w.value(f"xor i1 {gang.any(outside)}, true"), good, bad, likely=True)
    w.begin(bad)
    some = [gang.any((part,)) for part in outside]
    words = [lowest(gang, gang.vectors(operand), outside, some) for operand in (index, extent)]
    report = (str(op.attrs["axis"]), *words)
    w.value(f"call i1 {_CLAIM}(ptr {block}, i64 {number}, {_arguments(report)})")
    w.jump(good)
    w.begin(good)


def emit_assert(gang: Gang, op: Op) -> None:
    """`assert`: reports the first lane for which the condition does not hold."""
    condition, *values = op.operands
    module, w = gang.module, gang.w
    module.faults.append(
        Fault(
            kind=FaultKind.ASSERTION, text=str(op.attrs["text"]), loc=op.loc,
            types=tuple(scalar_type(value) for value in values),
        )
    )  # fmt: skip
    number, block = len(module.faults), module.word(WordKind.REPORT)
    failing = gang.mask_and_not(gang.mask, gang.vectors(condition))
    bad, first, good = gang.fresh_labels("broken", "first", "holds")
    w.branch(w.value(f"xor i1 {gang.any(failing)}, true"), good, bad, likely=True)
    w.begin(bad)
    some = [gang.any((part,)) for part in failing]
    place = _place(gang, lowest(gang, _lane_numbers(gang), failing, some))
    won = w.value(f"call i1 {_CLAIM}(ptr {block}, i64 {number}, {_arguments(place)})")
    w.branch(won, first, good)
    w.begin(first)
    for at, value in enumerate(values, reports.FAULT_VALUES):
        cell = w.value(f"getelementptr i64, ptr {block}, i64 {at}")
        w.line(f"store i64 {lowest(gang, _words(gang, value), failing, some)}, ptr {cell}")
    w.jump(good)
    w.begin(good)


def lowest(gang: Gang, vectors: Sequence[str], mask: tuple[str, ...], some: Sequence[str]) -> str:
    """The i64 of the lowest lane that is on; `some` tells of each part whether it has any."""
    lanes, result = gang.layout.lanes, "0"
    for vector, part, flag in reversed(list(zip(vectors, mask, some, strict=True))):
        bits = gang.w.value(f"bitcast {gang.mask_type} {part} to i{lanes}")
        lane = gang.w.value(f"call i{lanes} @llvm.cttz.i{lanes}(i{lanes} {bits}, i1 false)")
        gang.module.declared[f"llvm.cttz.i{lanes}"] = (
            f"declare i{lanes} @llvm.cttz.i{lanes}(i{lanes}, i1)"
        )
        safe = gang.w.value(f"select i1 {flag}, i{lanes} {lane}, i{lanes} 0")
        index = (
            safe
            if lanes == 64
            else gang.w.value(f"{'zext' if lanes < 64 else 'trunc'} i{lanes} {safe} to i64")
        )
        element = gang.w.value(f"extractelement {gang.vec.type(INDEX)} {vector}, i64 {index}")
        result = gang.w.value(f"select i1 {flag}, i64 {element}, i64 {result}")
    return result


# ── prints ──────────────────────────────────────────────────────────────────────────────────────


def emit_print(gang: Gang, op: Op) -> None:
    """`print`: one record for every lane that is on."""
    module, w = gang.module, gang.w
    types = tuple(scalar_type(value) for value in op.operands)
    module.prints.append(Print(text=str(op.attrs["text"]), types=types))
    number, block = len(module.prints), module.word(WordKind.REPORT)
    size = reports.PRINT_HEAD + len(types)
    words = [_words(gang, value) for value in op.operands]
    for part, mask in enumerate(gang.mask_parts(gang.mask)):
        cells = [spill(gang, vectors[part], gang.vec.type(INDEX)) for vectors in words]
        start = part * gang.layout.lanes

        def record(lane: str, cells: list[str] = cells, start: int = start) -> None:
            place = _place(gang, w.value(f"add i64 {lane}, {start}") if start else lane)
            values = w.value(
                f"call ptr {_PRINT}(ptr {block}, i64 {number}, {_arguments(place)}, i64 {size})"
            )
            room, after = gang.fresh_labels("room", "printed")
            w.branch(w.value(f"icmp ne ptr {values}, null"), room, after)
            w.begin(room)
            for at, cell in enumerate(cells):
                source = w.value(f"getelementptr i64, ptr {cell}, i64 {lane}")
                word = w.value(f"load i64, ptr {source}, align 8")
                target = w.value(f"getelementptr i64, ptr {values}, i64 {at}")
                w.line(f"store i64 {word}, ptr {target}")
            w.jump(after)
            w.begin(after)

        each_lane(gang, mask, record)


# ── places and words ────────────────────────────────────────────────────────────────────────────


def _place(gang: Gang, lane: str) -> tuple[str, str, str]:
    """The three words for the unit of a lane, counted over all parts."""
    place = gang.place
    along = gang.layout.along
    if gang.layout.schedule.crosses_cubes:
        here = {**place, along: gang.w.value(f"add i64 {place[along]}, {lane}")}
        return here["x"], here["y"], here["z"]
    return place["cube"], gang.w.value(f"add i64 {place['u']}, {lane}"), "0"


def _arguments(place: Sequence[str]) -> str:
    return ", ".join(f"i64 {word}" for word in place)


def _lane_numbers(gang: Gang) -> list[str]:
    """The numbers of the lanes, one vector a part."""
    lanes = gang.layout.lanes
    starts = range(0, gang.parts * lanes, lanes)
    return ["<" + ", ".join(f"i64 {start + at}" for at in range(lanes)) + ">" for start in starts]


def _words(gang: Gang, op: Op) -> tuple[str, ...]:
    """A value's bits, in the low bits of an i64 for each lane."""
    scalar, wide = scalar_type(op), gang.vec.integer(64)
    bits = 1 if scalar is BOOL else scalar.bits
    narrow, register = gang.vec.integer(bits), gang.vec.type(scalar)
    words = []
    for vector in gang.vectors(op):
        raw = vector
        if register_type(scalar) != f"i{bits}":
            raw = gang.w.value(f"bitcast {register} {vector} to {narrow}")
        words.append(raw if bits == 64 else gang.w.value(f"zext {narrow} {raw} to {wide}"))
    return tuple(words)
