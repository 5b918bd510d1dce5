"""Loads and stores of a gang: one scalar, one vector, a reversed vector, or lane by lane addresses.

Masks are used only where a lane may be off or outside. A lane outside reads 0 and writes nothing;
what a lane that is off reads does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cubepy.codegen.llvm.address import Address, address_of, element_pointer, lane_pointers
from cubepy.codegen.llvm.bounds import Bounds, bounds_of, combined
from cubepy.codegen.llvm.gang import Gang, Mask
from cubepy.codegen.llvm.types import memory_type, register_type, shaped
from cubepy.ir import BOOL, BufferType, Op, PrivateType, Scalar, SharedType

__all__ = ["emit_load", "emit_store"]


def _element(memory: Op) -> Scalar:
    assert isinstance(memory.type, BufferType | SharedType | PrivateType)
    return memory.type.element


def _align(scalar: Scalar) -> int:
    return scalar.size


def from_memory(gang: Gang, scalar: Scalar, value: str, lanes: int) -> str:
    """A loaded element in its register form."""
    if scalar is not BOOL:
        return value
    type = shaped("i8", lanes)
    return gang.w.value(f"icmp ne {type} {value}, {'zeroinitializer' if lanes else '0'}")


def to_memory(gang: Gang, scalar: Scalar, value: str, lanes: int) -> str:
    """A value in its memory form."""
    if scalar is not BOOL:
        return value
    return gang.w.value(f"zext {shaped('i1', lanes)} {value} to {shaped('i8', lanes)}")


def guarded(gang: Gang, condition: str, type: str, zero: str, make: Callable[[], str]) -> str:
    """`make()` where the condition holds, else `zero`."""
    inside, join = gang.fresh_labels("inside", "join")
    before = gang.w.label
    gang.w.branch(condition, inside, join, likely=True)
    gang.w.begin(inside)
    made = make()
    after = gang.w.label
    gang.w.jump(join)
    gang.w.begin(join)
    return gang.w.value(f"phi {type} [ {zero}, %{before} ], [ {made}, %{after} ]")


def when(gang: Gang, condition: str | None, act: Callable[[], None]) -> None:
    """`act()` where the condition holds."""
    if condition is None:
        act()
        return
    inside, join = gang.fresh_labels("inside", "join")
    gang.w.branch(condition, inside, join, likely=True)
    gang.w.begin(inside)
    act()
    gang.w.jump(join)
    gang.w.begin(join)


def access_mask(gang: Gang, bounds: Bounds) -> Mask:
    """Lanes that are on and inside."""
    if bounds.certain:
        return gang.mask
    return gang.mask_and(gang.mask, combined(gang, bounds))


# ── loads ───────────────────────────────────────────────────────────────────────────────────────


def emit_load(gang: Gang, op: Op) -> None:
    """`load`: the result's shape decides how."""
    memory, *indices = op.operands
    shape = gang.analysis.shape(op)
    bounds = bounds_of(gang, op, memory, indices)
    if isinstance(memory.type, PrivateType):
        gang.define(op, private_load(gang, memory, indices, bounds))
    elif shape.level == 0:
        gang.define(op, (_scalar_load(gang, memory, indices, bounds),))
    elif shape.level == 1:
        gang.define(op, _part_loads(gang, memory, indices, bounds))
    else:
        gang.define(op, _vector_loads(gang, memory, indices, bounds))


def _scalar_load(gang: Gang, memory: Op, indices: Sequence[Op], bounds: Bounds) -> str:
    element = _element(memory)

    def make() -> str:
        pointer = element_pointer(gang, address_of(gang, memory, indices), 0, memory_type(element))
        return load_element(gang, element, pointer)

    if bounds.scalar is None:
        return make()
    zero = gang.one.const(element, 0)
    return guarded(gang, bounds.scalar, register_type(element), zero, make)


def load_element(gang: Gang, element: Scalar, pointer: str) -> str:
    """One element."""
    loaded = gang.w.value(f"load {memory_type(element)}, ptr {pointer}, align {_align(element)}")
    return from_memory(gang, element, loaded, 0)


def _part_loads(gang: Gang, memory: Op, indices: Sequence[Op], bounds: Bounds) -> tuple[str, ...]:
    """One element a part; a part whose lanes are all off must not touch memory."""
    element = _element(memory)
    address = address_of(gang, memory, indices)
    names = []
    for number in range(gang.parts):

        def make(number: int = number) -> str:
            pointer = element_pointer(gang, address, number, memory_type(element))
            return load_element(gang, element, pointer)

        condition = _part_condition(gang, bounds, number)
        zero = gang.one.const(element, 0)
        names.append(
            make()
            if condition is None
            else guarded(gang, condition, register_type(element), zero, make)
        )
    return tuple(names)


def _part_condition(gang: Gang, bounds: Bounds, number: int) -> str | None:
    terms = [bounds.scalar] if bounds.scalar is not None else []
    if bounds.each_part:
        terms.append(bounds.each_part[number])
    if gang.mask is not None:
        terms.append(gang.any((gang.mask[number],)))
    total: str | None = None
    for term in terms:
        total = term if total is None else gang.w.value(f"and i1 {total}, {term}")
    return total


def _vector_loads(gang: Gang, memory: Op, indices: Sequence[Op], bounds: Bounds) -> tuple[str, ...]:
    element = _element(memory)
    mask = access_mask(gang, bounds)
    address = address_of(gang, memory, indices)
    lanes = gang.layout.lanes
    loaded = []
    for number in range(gang.parts):
        part = None if mask is None else mask[number]
        if not address.vectors and address.stride in (1, -1):
            value = _contiguous_load(gang, address, number, element, part)
        else:
            value = _gather(gang, address, number, element, part)
        loaded.append(from_memory(gang, element, value, lanes))
    return tuple(loaded)


def _reverse(gang: Gang, type: str, value: str) -> str:
    lanes = gang.layout.lanes
    order = ", ".join(f"i32 {lane}" for lane in reversed(range(lanes)))
    return gang.w.value(f"shufflevector {type} {value}, {type} poison, <{lanes} x i32> <{order}>")


def _first_pointer(gang: Gang, address: Address, number: int, element: Scalar) -> str:
    """Where the vector starts in memory: at the last lane for stride -1."""
    pointer = element_pointer(gang, address, number, memory_type(element))
    if address.stride == 1:
        return pointer
    back = -(gang.layout.lanes - 1)
    return gang.w.value(f"getelementptr {memory_type(element)}, ptr {pointer}, i64 {back}")


def _contiguous_load(
    gang: Gang, address: Address, number: int, element: Scalar, mask: str | None
) -> str:
    pointer = _first_pointer(gang, address, number, element)
    type = shaped(memory_type(element), gang.layout.lanes)
    if mask is not None and address.stride == -1:
        mask = _reverse(gang, gang.mask_type, mask)
    value = load_vector(gang, element, pointer, mask)
    return _reverse(gang, type, value) if address.stride == -1 else value


def load_vector(gang: Gang, element: Scalar, pointer: str, mask: str | None) -> str:
    """Neighbouring elements in memory form; 0 where the mask is off."""
    type, align = shaped(memory_type(element), gang.layout.lanes), _align(element)
    if mask is None:
        return gang.w.value(f"load {type}, ptr {pointer}, align {align}")
    name = f"llvm.masked.load.{gang.vec.mangle(memory_type(element))}.p0"
    gang.module.declared[name] = f"declare {type} @{name}(ptr, {gang.mask_type}, {type})"
    return gang.w.value(
        f"call {type} @{name}(ptr align {align} {pointer}, {gang.mask_type} {mask}, "
        f"{type} zeroinitializer)"
    )


def _gather(gang: Gang, address: Address, number: int, element: Scalar, mask: str | None) -> str:
    pointers = lane_pointers(gang, address, number, memory_type(element))
    return gather(gang, element, pointers, mask)


def gather(gang: Gang, element: Scalar, pointers: str, mask: str | None) -> str:
    """One element a pointer, in memory form."""
    lanes = gang.layout.lanes
    type, align = shaped(memory_type(element), lanes), _align(element)
    if mask is None and element.bits < 32:
        return _gather_by_lane(gang, element, pointers)
    name = f"llvm.masked.gather.{gang.vec.mangle(memory_type(element))}.v{lanes}p0"
    gang.module.declared[name] = (
        f"declare {type} @{name}(<{lanes} x ptr>, {gang.mask_type}, {type})"
    )
    return gang.w.value(
        f"call {type} @{name}(<{lanes} x ptr> align {align} {pointers}, "
        f"{gang.mask_type} {mask or gang.ones()}, {type} zeroinitializer)"
    )


def _gather_by_lane(gang: Gang, element: Scalar, pointers: str) -> str:
    """Scalar loads: there is no gather of small elements."""
    lanes, scalar = gang.layout.lanes, memory_type(element)
    result = "poison"
    for lane in range(lanes):
        pointer = gang.w.value(f"extractelement <{lanes} x ptr> {pointers}, i64 {lane}")
        value = gang.w.value(f"load {scalar}, ptr {pointer}, align {_align(element)}")
        result = gang.w.value(
            f"insertelement <{lanes} x {scalar}> {result}, {scalar} {value}, i64 {lane}"
        )
    return result


# ── stores ──────────────────────────────────────────────────────────────────────────────────────


def emit_store(gang: Gang, op: Op) -> None:
    """`store`."""
    memory, *indices, value = op.operands
    bounds = bounds_of(gang, op, memory, indices)
    if isinstance(memory.type, PrivateType):
        private_store(gang, memory, indices, value, bounds)
        return
    element = _element(memory)
    if gang.values[value].shape.level == 0 and all(
        gang.values[i].shape.level == 0 for i in indices
    ):
        when(gang, bounds.scalar, lambda: _scalar_store(gang, memory, indices, element, value))
        return
    vectors = gang.vectors(value)
    mask = access_mask(gang, bounds)
    address = address_of(gang, memory, indices)
    for number, vector in enumerate(vectors):
        part = None if mask is None else mask[number]
        stored = to_memory(gang, element, vector, gang.layout.lanes)
        if not address.vectors and address.stride in (1, -1):
            _contiguous_store(gang, address, number, element, stored, part)
        else:
            scatter(
                gang,
                element,
                lane_pointers(gang, address, number, memory_type(element)),
                stored,
                part,
            )


def _scalar_store(
    gang: Gang, memory: Op, indices: Sequence[Op], element: Scalar, value: Op
) -> None:
    pointer = element_pointer(gang, address_of(gang, memory, indices), 0, memory_type(element))
    store_element(gang, element, pointer, gang.scalar(value))


def store_element(gang: Gang, element: Scalar, pointer: str, value: str) -> None:
    """One element."""
    stored = to_memory(gang, element, value, 0)
    gang.w.line(f"store {memory_type(element)} {stored}, ptr {pointer}, align {_align(element)}")


def _contiguous_store(
    gang: Gang, address: Address, number: int, element: Scalar, value: str, mask: str | None
) -> None:
    pointer = _first_pointer(gang, address, number, element)
    if address.stride == -1:
        value = _reverse(gang, shaped(memory_type(element), gang.layout.lanes), value)
        mask = None if mask is None else _reverse(gang, gang.mask_type, mask)
    store_vector(gang, element, pointer, value, mask)


def store_vector(gang: Gang, element: Scalar, pointer: str, value: str, mask: str | None) -> None:
    """Neighbouring elements, those whose mask is on."""
    type, align = shaped(memory_type(element), gang.layout.lanes), _align(element)
    if mask is None:
        gang.w.line(f"store {type} {value}, ptr {pointer}, align {align}")
        return
    name = f"llvm.masked.store.{gang.vec.mangle(memory_type(element))}.p0"
    gang.module.declared[name] = f"declare void @{name}({type}, ptr, {gang.mask_type})"
    gang.w.line(
        f"call void @{name}({type} {value}, ptr align {align} {pointer}, {gang.mask_type} {mask})"
    )


def scatter(gang: Gang, element: Scalar, pointers: str, value: str, mask: str | None) -> None:
    """One element a pointer; of lanes that go to one place the highest is last."""
    lanes = gang.layout.lanes
    type, align = shaped(memory_type(element), lanes), _align(element)
    name = f"llvm.masked.scatter.{gang.vec.mangle(memory_type(element))}.v{lanes}p0"
    gang.module.declared[name] = f"declare void @{name}({type}, <{lanes} x ptr>, {gang.mask_type})"
    gang.w.line(
        f"call void @{name}({type} {value}, <{lanes} x ptr> align {align} {pointers}, "
        f"{gang.mask_type} {mask or gang.ones()})"
    )


# ── private arrays: element by element, all lanes side by side ──────────────────────────────────


def private_cells(gang: Gang, memory: Op) -> tuple[str, ...]:
    """The array of each part: `[elements x <L x T>]` in memory form."""
    if gang.private_array is not None:
        return gang.private_array(gang, memory)
    if memory not in gang.private:
        assert isinstance(memory.type, PrivateType)
        count = 1
        for extent in memory.type.shape:
            count *= extent
        row = shaped(memory_type(memory.type.element), gang.layout.lanes)
        gang.private[memory] = tuple(
            gang.module.alloca(f"[{count} x {row}]") for _ in range(gang.parts)
        )
    return gang.private[memory]


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


def private_load(gang: Gang, memory: Op, indices: Sequence[Op], bounds: Bounds) -> tuple[str, ...]:
    """From the unit's own array."""
    element, lanes = _element(memory), gang.layout.lanes
    scalar, vectors = _linear(gang, memory, indices)
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
