"""Loads, stores and declarations of memory and variables.

Each handler takes the state, the op and the active units, and leaves the op's value in the state.
What an access must report beyond the bounds (races, reads of what was never written) stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from cubepy.errors import DataRaceError, Diagnostic, UninitializedReadError
from cubepy.interp.clock import Conflict
from cubepy.interp.cube_races import CubeShadow
from cubepy.interp.masks import Mask, Value
from cubepy.interp.memory import Memory, Places, at_lane, own_memory, place_of
from cubepy.interp.races import LaunchShadow
from cubepy.interp.state import Slot, State
from cubepy.ir import Op, OpDef, Scalar, SharedType, Trait, ops

__all__ = ["HANDLERS", "Handler", "located", "spread", "watch"]

Handler = Callable[[State, Op, Mask], None]

PRESENT = {
    "read": "reads {} from",
    "write": "writes {} to",
    "atomic": "atomically updates",
    "atomic_read": "atomically reads {} from",
}
OTHERS = {
    "read": "the read",
    "write": "the write",
    "atomic": "the atomic update",
    "atomic_read": "the atomic read",
}
PAST = {
    "read": "read {} from it",
    "write": "wrote {} to it",
    "atomic": "atomically updated it; it holds {} now",
    "atomic_read": "atomically read {} from it",
}


def located(state: State, op: Op, mask: Mask, indices: tuple[Op, ...]) -> tuple[Memory, Places]:
    """The memory that is the op's first operand, and the elements its subscripts mean."""
    memory: Memory = state.values[op.operands[0]]
    values = [state.values[index] for index in indices]
    return memory, memory.locate(op, values, mask, state.batch, state.calls)


def spread(value: Value, places: Places, state: State) -> Value:
    """Values of the active units as a value of the machine: 0 in the others."""
    if places.every or value.ndim == 0:
        return value
    whole = np.zeros(state.batch.lanes, dtype=value.dtype)
    whole[places.lanes] = value
    return whole


def load(state: State, op: Op, mask: Mask) -> None:
    """An element for each active unit; 0 outside."""
    memory, places = located(state, op, mask, op.operands[1:])
    if not places.lanes.size:
        state.values[op] = np.asarray(0).astype(memory.data.dtype)
        return
    watch(state, op, memory, places, "read")
    state.values[op] = spread(memory.read(places), places, state)


def store(state: State, op: Op, mask: Mask) -> None:
    """Write the last operand in the order of the units; nothing happens outside."""
    memory, places = located(state, op, mask, op.operands[1:-1])
    if not places.lanes.size:
        return
    value: Value = state.values[op.operands[-1]]
    values = value if value.ndim == 0 or places.every else value[places.lanes]
    watch(state, op, memory, places, "write", values, reads=False)
    memory.write(places, values)


def watch(
    state: State,
    op: Op,
    memory: Memory,
    places: Places,
    kind: str,
    values: Value | None = None,
    *,
    reads: bool = True,
) -> None:
    """Report a race that these accesses are part of, and reads of what was never written."""
    if memory.shadow is not None:
        cells, lanes = memory.cells(places), places.lanes
        if memory.width > 1:
            cells = (cells[:, None] + np.arange(memory.width)).ravel()
            lanes = np.repeat(lanes, memory.width)
        conflict = memory.shadow.visit(kind, cells, lanes, op, state.clock)
        if conflict is not None:
            raise DataRaceError(_race(state, op, memory, places, kind, values, conflict))
    if memory.written is not None and reads:
        written = memory.written[places.subscripts]
        if not written.all():
            number = int(np.argmin(written)) if written.ndim else 0
            raise UninitializedReadError(_unwritten(state, op, memory, places, number))


# What to do before a read, by whether the memory is shared.
_FIRST = {
    True: "let a unit of the cube write it, and call cb.sync_cube(), before any reads it",
    False: "write it first, or fill it where it is declared: cb.local_array(…, fill=0.0)",
}


def _unwritten(state: State, op: Op, memory: Memory, places: Places, number: int) -> Diagnostic:
    unit = state.batch.name(int(places.lanes[number]))
    element, made = memory.element_name(places, number), memory.declaration
    assert made is not None, "arguments hold what the caller wrote"
    shared = isinstance(made.type, SharedType)
    return Diagnostic(
        message=f"{unit} reads {element}, which nothing has written",
        loc=place_of(op, state.calls),
        notes=((f"`{memory.name}` is declared here", made.loc),),
        help=f"uninitialised memory holds an arbitrary value; {_FIRST[shared]}",
    )


def _race(
    state: State,
    op: Op,
    memory: Memory,
    places: Places,
    kind: str,
    values: Value | None,
    conflict: Conflict,
) -> Diagnostic:
    number, batch = conflict.place // memory.width, state.batch
    element, other_op = memory.element_name(places, number), state.clock.op(conflict.op)
    before = memory.read(places)
    old = new = at_lane(before, number)
    if values is not None:
        new = at_lane(values, number)
        # a store that races with itself has not stored yet
        own = np.flatnonzero(places.lanes == conflict.unit - batch.first * batch.units)
        if other_op is op and kind == conflict.kind and own.size:
            old = at_lane(values, int(own[0]))
    unit = int(places.lanes[number])
    other = batch.name_of(conflict.unit)
    same_cube = conflict.unit // batch.units == batch.first + unit // batch.units
    return Diagnostic(
        message=f"data race: {batch.name(unit)} {PRESENT[kind].format(new)} {element}, and nothing "
        f"orders that with {OTHERS[conflict.kind]} of another unit",
        loc=place_of(op, state.calls),
        notes=((f"{other} {PAST[conflict.kind].format(old)}", other_op.loc),),
        help=_way_out(memory, op, other_op, same_cube=same_cube),
    )


def _way_out(memory: Memory, op: Op, other_op: Op, *, same_cube: bool) -> str:
    """What to write instead of two accesses that race."""
    if _are_an_update(op, other_op):
        return "several units change this element: use an atomic, such as cb.atomic_add"
    if op.opdef is ops.STORE and other_op.opdef is ops.STORE and _on_one_line(op, other_op):
        return "give each unit an element of its own, let one of them write, or use an atomic"
    if op.opdef.has(Trait.ATOMIC) != other_op.opdef.has(Trait.ATOMIC):
        where = "put cb.sync_cube() between them" if memory.lead is not None else "use two launches"
        return (
            "an atomic is safe among atomics only: write cb.atomic_load or cb.atomic_store for the "
            f"other access, or {where}"
        )
    if memory.lead is not None:
        return "put cb.sync_cube() between the two accesses, or use an atomic"
    if same_cube:
        return (
            "write to an array that this launch does not read, or use an atomic; cb.sync_cube() "
            "between the accesses orders one cube only"
        )
    return (
        "cubes run in any order: use atomics, or two launches, or write to an array that this "
        "launch does not read"
    )


def _are_an_update(op: Op, other_op: Op) -> bool:
    """Whether one place of the source reads and stores at the same subscripts."""
    pair = {op.opdef: op, other_op.opdef: other_op}
    load, store = pair.get(ops.LOAD), pair.get(ops.STORE)
    if load is None or store is None:
        return False
    return _on_one_line(load, store) and load.operands == store.operands[:-1]


def _on_one_line(op: Op, other_op: Op) -> bool:
    return (op.loc.file, op.loc.line) == (other_op.loc.file, other_op.loc.line)


def shared(state: State, op: Op, mask: Mask) -> None:
    """Memory of each cube: the same whenever the op runs on one call path."""
    path, batch = (*state.calls, op), state.batch
    if path not in state.cube_memory:
        unwritten = state.reports.unwritten
        made = own_memory(op, batch.cube_of_lane, batch.count, report_unwritten=unwritten)
        if state.reports.races != "none":
            wide = state.facts.plane_barriers or state.facts.orders
            size = made.data.size
            made.shadow = LaunchShadow(size, batch, storage=False) if wide else CubeShadow(size)
        state.cube_memory[path] = made
    state.values[op] = state.cube_memory[path]


def local_array(state: State, op: Op, mask: Mask) -> None:
    """Memory of each unit, new whenever the op runs."""
    lead = state.batch.all_lanes if state.batch.lanes > 1 else np.asarray(0)
    unwritten = state.reports.unwritten
    state.values[op] = own_memory(op, lead, state.batch.lanes, report_unwritten=unwritten)


def length(state: State, op: Op, mask: Mask) -> None:
    """Elements along an axis."""
    state.values[op] = np.asarray(state.values[op.operands[0]].shape[op.attrs["axis"]])


def stride(state: State, op: Op, mask: Mask) -> None:
    """Elements between neighbours along an axis."""
    state.values[op] = np.asarray(state.values[op.operands[0]].strides[op.attrs["axis"]])


def local(state: State, op: Op, mask: Mask) -> None:
    """A new variable."""
    state.values[op] = Slot()


def load_local(state: State, op: Op, mask: Mask) -> None:
    """The variable's value."""
    value = state.values[op.operands[0]].value
    if value is None:
        assert isinstance(op.type, Scalar)
        value = np.asarray(0).astype(op.type.numpy)
    state.values[op] = value


def store_local(state: State, op: Op, mask: Mask) -> None:
    """Assign in the active units."""
    state.values[op.operands[0]].store(mask, state.values[op.operands[1]])


HANDLERS: Mapping[OpDef, Handler] = {
    ops.LOAD: load,
    ops.STORE: store,
    ops.SHARED: shared,
    ops.LOCAL_ARRAY: local_array,
    ops.LENGTH: length,
    ops.STRIDE: stride,
    ops.LOCAL: local,
    ops.LOAD_LOCAL: load_local,
    ops.STORE_LOCAL: store_local,
}
