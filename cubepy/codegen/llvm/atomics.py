"""Atomics: one lane after the other, in lane order.

Shared memory belongs to the thread that runs the cube, so its atomics are plain updates. What all
lanes load from one place is loaded once. A lane outside (in checked modes) changes nothing and
gives 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cubepy.codegen.llvm.access import access_mask, guarded
from cubepy.codegen.llvm.address import address_of, lane_pointers
from cubepy.codegen.llvm.bounds import bounds_of
from cubepy.codegen.llvm.elementwise import ELEMENTWISE
from cubepy.codegen.llvm.gang import Gang, Mask
from cubepy.codegen.llvm.lane_loop import each_lane, spill
from cubepy.codegen.llvm.limits import limits_of
from cubepy.codegen.llvm.tallies import COPIES, Tally, count
from cubepy.codegen.llvm.types import memory_type, register_type
from cubepy.ir import BufferType, Op, Scalar, SharedType, ops

__all__ = ["emit_atomic", "emit_fence"]

_ORDER = {"relaxed": "monotonic", "acquire": "acquire", "release": "release", "acq_rel": "acq_rel"}
_NATIVE = {
    "atomic_add": "add",
    "atomic_sub": "sub",
    "atomic_and_": "and",
    "atomic_or_": "or",
    "atomic_xor": "xor",
    "atomic_exchange": "xchg",
}
_PURE = {
    "atomic_add": ops.ADD,
    "atomic_sub": ops.SUB,
    "atomic_min": ops.MIN,
    "atomic_max": ops.MAX,
    "atomic_and_": ops.BIT_AND,
    "atomic_or_": ops.BIT_OR,
    "atomic_xor": ops.BIT_XOR,
}


def emit_atomic(gang: Gang, op: Op) -> None:
    """An atomic of every lane that is on, as a loop over the set bits of the mask."""
    memory = op.operands[0]
    assert isinstance(memory.type, BufferType | SharedType)
    indices = op.operands[1 : 1 + memory.type.rank]
    gang.module.notes.op = op
    tally = gang.module.tallies.get(memory)
    if tally is not None:
        _by_cases(gang, op, tally)
        return
    _on_memory(gang, op, access_mask(gang, bounds_of(gang, op, memory, indices)))


def _by_cases(gang: Gang, op: Op, tally: Tally) -> None:
    """In copies while the buffer is small; nobody asks for the old values. What lies outside of the
    buffer but inside of the copies may be counted there: nobody adds it up.
    """
    memory, index, value = op.operands
    gang.accesses(memory, f"counted in {COPIES} copies of each thread while it is small")
    copies, shared, join = gang.fresh_labels("copies", "shared", "join")
    gang.vectors(index)  # spread before the cases part
    gang.vectors(value)
    limits = limits_of(index)
    roomy = limits is not None and limits[0] >= 0 and limits[1] < tally.step
    mask = gang.mask if roomy else access_mask(gang, bounds_of(gang, op, memory, [index]))
    gang.w.branch(tally.small, copies, shared, likely=True)
    gang.w.begin(copies)
    count(gang, op, tally, mask)
    gang.w.jump(join)
    gang.w.begin(shared)
    if roomy:
        with gang.rare_case():
            mask = access_mask(gang, bounds_of(gang, op, memory, [index]))
    _on_memory(gang, op, mask)
    gang.w.jump(join)
    gang.w.begin(join)


def _on_memory(gang: Gang, op: Op, mask: Mask) -> None:
    memory = op.operands[0]
    assert isinstance(memory.type, BufferType | SharedType)
    rank, element = memory.type.rank, memory.type.element
    indices, operands = op.operands[1 : 1 + rank], op.operands[1 + rank :]
    address = address_of(gang, memory, indices)
    if op.opdef is ops.ATOMIC_LOAD and address.uniform:
        gang.define(op, _load_once(gang, op, element, address.base, gang.mask_parts(mask)))
        return
    lanes, type = gang.layout.lanes, memory_type(element)
    how = "a plain update" if isinstance(memory.type, SharedType) else "an atomic"
    gang.accesses(memory, f"{how} for each unit, one after the other")
    results = []
    for number in range(gang.parts):
        cells = spill(gang, lane_pointers(gang, address, number, type), f"<{lanes} x ptr>")
        inputs = [
            spill(gang, gang.vectors(value)[number], gang.vec.type(element)) for value in operands
        ]
        output = gang.module.alloca(gang.vec.type(element))
        gang.w.line(f"store {gang.vec.type(element)} zeroinitializer, ptr {output}, align 64")
        each_lane(
            gang,
            gang.mask_parts(mask)[number],
            partial(_update_lane, gang, op, element, cells=cells, inputs=inputs, output=output),
        )
        results.append(gang.w.value(f"load {gang.vec.type(element)}, ptr {output}, align 64"))
    if op.opdef is not ops.ATOMIC_STORE:
        gang.define(op, tuple(results))


def _load_once(
    gang: Gang, op: Op, element: Scalar, pointer: str, mask: tuple[str, ...]
) -> tuple[str, ...]:
    """What all lanes load from one place."""
    type = register_type(element)
    loaded = guarded(
        gang,
        gang.any(mask),
        type,
        gang.one.const(element, 0),
        lambda: _update(gang, op, element, pointer, ()),
    )
    return (gang.vec.everywhere(type, loaded),) * gang.parts


def emit_fence(gang: Gang, op: Op) -> None:
    """`fence`: a cube is the work of one thread, so within it only the compiler must heed it."""
    scope = 'syncscope("singlethread") ' if op.attrs["scope"] == "cube" else ""
    gang.w.line(f"fence {scope}acq_rel")


def _at(gang: Gang, type: str, cells: str, lane: str) -> str:
    return gang.w.value(f"getelementptr {type}, ptr {cells}, i64 {lane}")


def _update_lane(
    gang: Gang, op: Op, element: Scalar, lane: str, cells: str, inputs: Sequence[str], output: str
) -> None:
    """One lane's update, from the cells of its operands to the cell of its result."""
    w, register = gang.w, register_type(element)
    place = w.value(f"getelementptr ptr, ptr {cells}, i64 {lane}")
    pointer = w.value(f"load ptr, ptr {place}, align 8")
    given = [
        w.value(f"load {register}, ptr {_at(gang, register, cell, lane)}, align {element.size}")
        for cell in inputs
    ]
    old = _update(gang, op, element, pointer, given)
    w.line(f"store {register} {old}, ptr {_at(gang, register, output, lane)}, align {element.size}")


def _update(gang: Gang, op: Op, element: Scalar, pointer: str, given: Sequence[str]) -> str:
    """One lane's update; gives the old value."""
    if isinstance(op.operands[0].type, SharedType):
        return _plain(gang, op, element, pointer, given)
    order = _ORDER[str(op.attrs.get("order", "relaxed"))]
    type, name = memory_type(element), op.opdef.name
    bits = f"i{element.bits}"
    if op.opdef is ops.ATOMIC_LOAD:
        place = f"ptr {pointer} {order}, align {element.size}"
        return _from_bits(gang, element, gang.w.value(f"load atomic {bits}, {place}"))
    if op.opdef is ops.ATOMIC_STORE:
        value = _bits(gang, element, given[0])
        gang.w.line(f"store atomic {bits} {value}, ptr {pointer} {order}, align {element.size}")
        return given[0]
    if op.opdef is ops.ATOMIC_COMPARE_EXCHANGE:
        return _compare_exchange(gang, element, pointer, given[0], given[1], order)
    if name == "atomic_exchange" or (name in _NATIVE and not element.is_float):
        return gang.w.value(f"atomicrmw {_NATIVE[name]} ptr {pointer}, {type} {given[0]} {order}")
    if not element.is_float:
        verb = ("" if element.is_signed else "u") + name.removeprefix("atomic_")
        return gang.w.value(f"atomicrmw {verb} ptr {pointer}, {type} {given[0]} {order}")
    return _exchange_loop(gang, op, element, pointer, given[0], order)


def _combine(gang: Gang, op: Op, element: Scalar, old: str, given: str) -> str:
    if op.opdef.name in ("atomic_exchange", "atomic_store"):
        return given
    row = _PURE[op.opdef.name]
    sample = Op(opdef=row, operands=(op.operands[-1], op.operands[-1]), type=element, loc=op.loc)
    return ELEMENTWISE[row.name](gang.one, sample, (old, given))


def _plain(gang: Gang, op: Op, element: Scalar, pointer: str, given: Sequence[str]) -> str:
    type, w = memory_type(element), gang.w
    old = w.value(f"load {type}, ptr {pointer}, align {element.size}")
    if op.opdef is ops.ATOMIC_LOAD:
        return old
    if op.opdef is ops.ATOMIC_COMPARE_EXCHANGE:
        same = _same_bits(gang, element, old, given[0])
        new = w.value(f"select i1 {same}, {type} {given[1]}, {type} {old}")
    else:
        new = _combine(gang, op, element, old, given[0])
    w.line(f"store {type} {new}, ptr {pointer}, align {element.size}")
    return old


def _same_bits(gang: Gang, element: Scalar, a: str, b: str) -> str:
    bits = f"i{element.bits}"
    return gang.w.value(f"icmp eq {bits} {_bits(gang, element, a)}, {_bits(gang, element, b)}")


def _bits(gang: Gang, element: Scalar, value: str) -> str:
    type, bits = register_type(element), f"i{element.bits}"
    return value if type == bits else gang.w.value(f"bitcast {type} {value} to {bits}")


def _from_bits(gang: Gang, element: Scalar, value: str) -> str:
    type, bits = register_type(element), f"i{element.bits}"
    return value if type == bits else gang.w.value(f"bitcast {bits} {value} to {type}")


def _failure_order(order: str) -> str:
    return "acquire" if order in ("acquire", "acq_rel") else "monotonic"


def _compare_exchange(
    gang: Gang, element: Scalar, pointer: str, expected: str, new: str, order: str
) -> str:
    bits = f"i{element.bits}"
    pair = gang.w.value(
        f"cmpxchg ptr {pointer}, {bits} {_bits(gang, element, expected)}, "
        f"{bits} {_bits(gang, element, new)} {order} {_failure_order(order)}"
    )
    return _from_bits(gang, element, gang.w.value(f"extractvalue {{ {bits}, i1 }} {pair}, 0"))


def _exchange_loop(
    gang: Gang, op: Op, element: Scalar, pointer: str, given: str, order: str
) -> str:
    """A float update by compare-exchange until nobody came between."""
    w, bits = gang.w, f"i{element.bits}"
    again, done = gang.fresh_labels("again", "done")
    first = w.value(f"load atomic {bits}, ptr {pointer} monotonic, align {element.size}")
    before = w.label
    w.jump(again)
    w.begin(again)
    seen = "%" + w.fresh("seen")
    phi = w.hook()
    old = _from_bits(gang, element, seen)
    new = _bits(gang, element, _combine(gang, op, element, old, given))
    pair = w.value(
        f"cmpxchg weak ptr {pointer}, {bits} {seen}, {bits} {new} {order} {_failure_order(order)}"
    )
    found = w.value(f"extractvalue {{ {bits}, i1 }} {pair}, 0")
    won = w.value(f"extractvalue {{ {bits}, i1 }} {pair}, 1")
    after = w.label
    w.branch(won, done, again)
    with w.at(phi):
        w.line(f"{seen} = phi {bits} [ {first}, %{before} ], [ {found}, %{after} ]")
    w.begin(done)
    return old
