"""Private arrays: element by element, all lanes side by side.

Row r of an array holds element r of every lane, so a subscript that all lanes share is one vector
access; only a subscript that differs between lanes needs an address a lane.
"""

from __future__ import annotations

from collections.abc import Sequence

from cubepy.codegen.llvm.access import (
    access_mask,
    from_memory,
    gather,
    guarded,
    scatter,
    to_memory,
    when,
)
from cubepy.codegen.llvm.bounds import Bounds
from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.reasons import written
from cubepy.codegen.llvm.types import memory_type, shaped
from cubepy.ir import Op, PrivateType, Scalar, ops
from cubepy.target import Topic

__all__ = ["private_load", "private_store"]

# Bytes that arrays of all units of a gang may have on the stack, of which threads have little.
_MOST_ON_THE_STACK = 1 << 16


def _element(memory: Op) -> Scalar:
    assert isinstance(memory.type, PrivateType)
    return memory.type.element


def private_cells(gang: Gang, memory: Op) -> tuple[str, ...]:
    """The array of each part: `[elements x <L x T>]` in memory form."""
    if gang.private_array is not None:
        return gang.private_array(gang, memory)
    if memory not in gang.private:
        assert isinstance(memory.type, PrivateType)
        count = 1
        for extent in memory.type.shape:
            count *= extent
        size = count * memory.type.element.size
        room = size * gang.layout.lanes * gang.parts
        large = gang.module.stack_bytes + room > _MOST_ON_THE_STACK
        gang.module.stack_bytes += 0 if large else room
        place = "in the thread's own arena" if large else "on the stack"
        gang.chose(Topic.MEMORY, memory, f"in memory, {size} bytes a unit, {place}")
        make = _in_the_arena if large else _on_the_stack
        gang.private[memory] = make(gang, memory, count)
    return gang.private[memory]


def _on_the_stack(gang: Gang, memory: Op, count: int) -> tuple[str, ...]:
    row = shaped(memory_type(_element(memory)), gang.layout.lanes)
    return tuple(gang.module.alloca(f"[{count} x {row}]") for _ in range(gang.parts))


def _in_the_arena(gang: Gang, memory: Op, count: int) -> tuple[str, ...]:
    module, layout = gang.module, gang.layout
    size = -(-count * _element(memory).size * layout.lanes // 64) * 64
    start = module.reserve((memory, layout.lanes, gang.parts), size * gang.parts)
    with module.w.at(module.entry):
        return tuple(
            module.w.value(f"getelementptr i8, ptr %arena, i64 {start + size * part}", "array")
            for part in range(gang.parts)
        )


def _linear(gang: Gang, memory: Op, indices: Sequence[Op]) -> tuple[str | None, tuple[str, ...]]:
    """The linear subscript: one scalar if uniform, else a vector a part."""
    assert isinstance(memory.type, PrivateType)
    uniform = all(gang.values[index].shape.level == 0 for index in indices)
    lanes = gang.one if uniform else gang.vec
    from_index = (lambda op: (gang.scalar(op),)) if uniform else gang.vectors
    total: list[str] = []
    for extent, index in zip(memory.type.shape, indices, strict=True):
        scaled = [
            lanes.w.value(f"mul {lanes.integer(64)} {t}, {lanes.int_const(64, extent)}")
            for t in total
        ]
        names = from_index(index)
        total = (
            [
                lanes.w.value(f"add {lanes.integer(64)} {a}, {b}")
                for a, b in zip(scaled, names, strict=True)
            ]
            if total
            else list(names)
        )
    return (total[0], ()) if uniform else (None, tuple(total))


def _row_pointer(gang: Gang, memory: Op, cell: str, subscript: str) -> str:
    row = shaped(memory_type(_element(memory)), gang.layout.lanes)
    return gang.w.value(f"getelementptr {row}, ptr {cell}, i64 {subscript}")


def _lane_cells(gang: Gang, memory: Op, cell: str, subscript: str) -> str:
    """Pointers to each lane's own element at its own subscript."""
    lanes = gang.layout.lanes
    type = f"<{lanes} x i64>"
    row = gang.w.value(f"mul {type} {subscript}, {gang.vec.int_const(64, lanes)}")
    ramp = "<" + ", ".join(f"i64 {lane}" for lane in range(lanes)) + ">"
    place = gang.w.value(f"add {type} {row}, {ramp}")
    return gang.w.value(
        f"getelementptr {memory_type(_element(memory))}, ptr {cell}, {type} {place}"
    )


def _way(indices: Sequence[Op], *, uniform: bool) -> str:
    """How units reach their own arrays, for people."""
    if uniform:
        return "a vector of the units' own elements: all units have the same subscript"
    index = next((each for each in indices if each.opdef is not ops.CONST), indices[0])
    return f"an address for each unit: units have their own subscript {written(index)}"


def private_load(gang: Gang, memory: Op, indices: Sequence[Op], bounds: Bounds) -> tuple[str, ...]:
    """From the unit's own array."""
    element, lanes = _element(memory), gang.layout.lanes
    scalar, vectors = _linear(gang, memory, indices)
    gang.accesses(memory, _way(indices, uniform=scalar is not None))
    mask = access_mask(gang, bounds) if scalar is None else None
    type = shaped(memory_type(element), lanes)
    row_align = max(1, element.size)
    loaded = []
    for number, cell in enumerate(private_cells(gang, memory)):
        if scalar is not None:

            def make(cell: str = cell, scalar: str = scalar) -> str:
                pointer = _row_pointer(gang, memory, cell, scalar)
                raw = gang.w.value(f"load {type}, ptr {pointer}, align {row_align}")
                return gang.w.value(f"freeze {type} {raw}")

            value = (
                make()
                if bounds.scalar is None
                else guarded(gang, bounds.scalar, type, "zeroinitializer", make)
            )
        else:
            part = None if mask is None else mask[number]
            value = gather(gang, element, _lane_cells(gang, memory, cell, vectors[number]), part)
        loaded.append(from_memory(gang, element, value, lanes))
    return tuple(loaded)


def private_store(gang: Gang, memory: Op, indices: Sequence[Op], value: Op, bounds: Bounds) -> None:
    """To the unit's own array; lanes that are off keep theirs."""
    element, lanes = _element(memory), gang.layout.lanes
    stored = [to_memory(gang, element, vector, lanes) for vector in gang.vectors(value)]
    scalar, vectors = _linear(gang, memory, indices)
    gang.accesses(memory, _way(indices, uniform=scalar is not None))
    if scalar is None:
        mask = access_mask(gang, bounds)
        for number, cell in enumerate(private_cells(gang, memory)):
            part = None if mask is None else mask[number]
            scatter(
                gang,
                element,
                _lane_cells(gang, memory, cell, vectors[number]),
                stored[number],
                part,
            )
        return
    subscript: str = scalar

    def act() -> None:
        type = shaped(memory_type(element), lanes)
        for number, cell in enumerate(private_cells(gang, memory)):
            pointer, new = _row_pointer(gang, memory, cell, subscript), stored[number]
            if gang.mask is not None:
                old = gang.w.value(f"load {type}, ptr {pointer}, align {element.size}")
                kept = gang.w.value(f"freeze {type} {old}")
                new = gang.w.value(
                    f"select {gang.mask_type} {gang.mask[number]}, {type} {new}, {type} {kept}"
                )
            gang.w.line(f"store {type} {new}, ptr {pointer}, align {element.size}")

    when(gang, bounds.scalar, act)
