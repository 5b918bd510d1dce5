"""Atomics: read, combine, write, one unit after the other in their order, and the old value back.

Units that meet on one element are taken in rounds, the n-th of every element at once. Where nobody
asks for the old values and the order cannot show, their operands are combined first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cubepy.interp.accesses import Handler, located, spread, watch
from cubepy.interp.masks import Mask, Value
from cubepy.interp.memory import Memory, Places
from cubepy.interp.state import State
from cubepy.ir import NO_ATTRS, Evaluate, Op, OpDef, Scalar, ops

__all__ = ["HANDLERS"]

ATOMICS = {
    ops.ATOMIC_ADD, ops.ATOMIC_SUB, ops.ATOMIC_MIN, ops.ATOMIC_MAX, ops.ATOMIC_AND, ops.ATOMIC_OR,
    ops.ATOMIC_XOR, ops.ATOMIC_EXCHANGE, ops.ATOMIC_COMPARE_EXCHANGE,
}  # fmt: skip
# op: what combines two operands into one with the same effect
COMBINED: Mapping[OpDef, OpDef] = {
    ops.ATOMIC_ADD: ops.ADD, ops.ATOMIC_SUB: ops.ADD, ops.ATOMIC_MIN: ops.MIN,
    ops.ATOMIC_MAX: ops.MAX, ops.ATOMIC_AND: ops.BIT_AND, ops.ATOMIC_OR: ops.BIT_OR,
    ops.ATOMIC_XOR: ops.BIT_XOR,
}  # fmt: skip
# float sums depend on the order, which NumPy keeps
IN_ORDER = {ops.ATOMIC_ADD: np.add, ops.ATOMIC_SUB: np.subtract}


def atomic(state: State, op: Op, mask: Mask) -> None:
    """Update elements; the value is what was there before, 0 where nothing is done."""
    count = 2 if op.opdef is ops.ATOMIC_COMPARE_EXCHANGE else 1
    memory, places = located(state, op, mask, op.operands[1:-count])
    if not places.lanes.size:
        state.values[op] = np.asarray(0).astype(memory.data.dtype)
        return
    used = op in state.facts.used
    reads = used or op.opdef is not ops.ATOMIC_EXCHANGE
    _watch(state, op, memory, places, "atomic", reads=reads)
    operands = [_of_lanes(state.values[operand], places) for operand in op.operands[-count:]]
    cells = memory.cells(places)
    flat = tuple(np.broadcast_to(subscript, places.lanes.shape) for subscript in places.subscripts)
    old = _update(memory, op, flat, cells, operands, used=used)
    if memory.written is not None:
        memory.written[places.subscripts] = True
    state.values[op] = spread(old, places, state)


def atomic_load(state: State, op: Op, mask: Mask) -> None:
    """Elements as they are; 0 outside."""
    memory, places = located(state, op, mask, op.operands[1:])
    if not places.lanes.size:
        state.values[op] = np.asarray(0).astype(memory.data.dtype)
        return
    _watch(state, op, memory, places, "atomic_read", reads=True)
    state.values[op] = spread(memory.read(places), places, state)


def atomic_store(state: State, op: Op, mask: Mask) -> None:
    """Write elements in the order of the units."""
    memory, places = located(state, op, mask, op.operands[1:-1])
    if not places.lanes.size:
        return
    _watch(state, op, memory, places, "atomic", reads=False)
    memory.write(places, _of_lanes(state.values[op.operands[-1]], places))


def _watch(state: State, op: Op, memory: Memory, places: Places, kind: str, *, reads: bool) -> None:
    """Let units know of each other, then look for races."""
    orders = state.clock.orders
    if orders is None:
        watch(state, op, memory, places, kind, reads=reads)
        return
    owner = memory if memory.shadow is None else memory.shadow
    orders.atomic(op, 0 if memory.lead is None and memory.shadow is None else id(owner),
                  memory.cells(places), places.lanes)  # fmt: skip
    watch(state, op, memory, places, kind, reads=reads)
    orders.settle()


def _of_lanes(value: Value, places: Places) -> Value:
    if value.ndim == 0:
        return np.broadcast_to(value, places.lanes.shape)
    return value if places.every else value[places.lanes]


def _update(
    memory: Memory,
    op: Op,
    subscripts: tuple[Value, ...],
    cells: Value,
    operands: Sequence[Value],
    *,
    used: bool,
) -> Value:
    order = np.argsort(cells, kind="stable")
    ranks = _ranks(cells[order])
    if used or not ranks.any() or op.opdef not in COMBINED:
        return _in_rounds(memory, op, subscripts, order, ranks, operands)
    if op.opdef in IN_ORDER and memory.element.is_float:
        if memory.data.dtype.kind == "f":
            IN_ORDER[op.opdef].at(memory.data, subscripts, operands[0])
            return operands[0]
        return _in_rounds(memory, op, subscripts, order, ranks, operands)
    combined = _combined(COMBINED[op.opdef], memory.element, operands[0][order], ranks)
    first = order[ranks == 0]
    where = tuple(subscript[first] for subscript in subscripts)
    memory.data[where] = _evaluate(op)(
        memory.data[where], combined, type=memory.element, attrs=NO_ATTRS
    )
    return operands[0]


def _ranks(cells: Value) -> Value:
    """For sorted cells: how many equal ones come before each."""
    places = np.arange(cells.size)
    starts = np.where(np.diff(cells, prepend=cells[0] - 1) != 0, places, 0)
    return places - np.maximum.accumulate(starts)


def _in_rounds(
    memory: Memory,
    op: Op,
    subscripts: tuple[Value, ...],
    order: Value,
    ranks: Value,
    operands: Sequence[Value],
) -> Value:
    """The n-th unit of each element in round n."""
    evaluate, old = _evaluate(op), np.zeros(order.size, dtype=memory.data.dtype)
    by_rank = order[np.argsort(ranks, kind="stable")]
    for unit in np.split(by_rank, np.cumsum(np.bincount(ranks))[:-1]):
        where = tuple(subscript[unit] for subscript in subscripts)
        old[unit] = memory.data[where]
        memory.data[where] = evaluate(
            old[unit], *(o[unit] for o in operands), type=memory.element, attrs=NO_ATTRS
        )
    return old


def _combined(opdef: OpDef, element: Scalar, values: Value, ranks: Value) -> Value:
    """One value for each run of ranks 0, 1, 2 …: neighbours are combined until one is left."""
    evaluate = opdef.evaluate
    assert evaluate is not None
    while ranks.any():
        heads = np.flatnonzero(ranks % 2 == 0)
        partners = np.minimum(heads + 1, ranks.size - 1)
        paired = ranks[partners] == ranks[heads] + 1
        both = evaluate(values[heads], values[partners], type=element, attrs=NO_ATTRS)
        values, ranks = np.where(paired, both, values[heads]), ranks[heads] // 2
    return values


def _evaluate(op: Op) -> Evaluate:
    if op.opdef is ops.ATOMIC_COMPARE_EXCHANGE:
        return _compare_exchange
    assert op.opdef.evaluate is not None
    return op.opdef.evaluate


def _compare_exchange(
    old: Value, expected: Value, new: Value, *, type: Scalar, attrs: object
) -> Value:
    """The new value where the old one has the bits of the expected one."""
    bits = np.dtype(f"u{type.numpy.itemsize}")
    return np.where(old.view(bits) == np.ascontiguousarray(expected).view(bits), new, old)


HANDLERS: Mapping[OpDef, Handler] = {
    **dict.fromkeys(ATOMICS, atomic),
    ops.ATOMIC_LOAD: atomic_load,
    ops.ATOMIC_STORE: atomic_store,
}
