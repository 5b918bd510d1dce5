"""Loads and stores of a gang: one scalar, one vector, a reversed vector, or lane by lane addresses.

Masks are used only where a lane may be off or outside. A lane outside reads 0 and writes nothing;
what a lane that is off reads does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cubepy.codegen.llvm.access import (
    access_mask,
    from_memory,
    gather,
    guarded,
    load_each,
    load_element,
    load_vector,
    scatter,
    store_element,
    store_vector,
    to_memory,
    when,
)
from cubepy.codegen.llvm.address import (
    Address,
    address_of,
    element_pointer,
    lane_pointers,
    stepped_pointers,
)
from cubepy.codegen.llvm.bounds import Bounds, bounds_of, wholly_inside
from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.private_arrays import private_load, private_store
from cubepy.codegen.llvm.reasons import scattered_reason
from cubepy.codegen.llvm.strided import is_strided, strided_load
from cubepy.codegen.llvm.types import memory_type, register_type, shaped
from cubepy.codegen.llvm.widths import widened_here
from cubepy.ir import BufferType, Op, PrivateType, Scalar, SharedType

__all__ = ["emit_load", "emit_store"]


def _element(memory: Op) -> Scalar:
    assert isinstance(memory.type, BufferType | SharedType | PrivateType)
    return memory.type.element


# ── loads ───────────────────────────────────────────────────────────────────────────────────────


def emit_load(gang: Gang, op: Op) -> None:
    """`load`: the result's shape decides how."""
    memory, *indices = op.operands
    gang.module.notes.op = op
    shape = gang.analysis.shape(op)
    if op in gang.staged and _reads_copy(gang, op):
        gang.define(op, _staged_load(gang, op))
        return
    whole = None if shape.level < 2 else wholly_inside(gang, op, memory, indices)
    if whole is not None and not isinstance(memory.type, PrivateType):
        gang.define(op, _load_by_cases(gang, op, whole))
        return
    bounds = bounds_of(gang, op, memory, indices)
    if isinstance(memory.type, PrivateType):
        gang.define(op, private_load(gang, memory, indices, bounds))
    elif shape.level == 0:
        gang.define(op, (_scalar_load(gang, memory, indices, bounds),))
    elif shape.level == 1:
        gang.define(op, _part_loads(gang, memory, indices, bounds))
    else:
        gang.define(op, _vector_loads(gang, memory, indices, bounds))


def _reads_copy(gang: Gang, op: Op) -> bool:
    """Whether all units are in a loop here whose accesses are known to be inside, as the copy is
    made of elements, or its place is that in memory.
    """
    if not gang.unaided:
        return True
    safe = op in gang.ranged or op.attrs["check"] == "unchecked"
    return safe and gang.mask is None


def _staged_load(gang: Gang, op: Op) -> tuple[str, ...]:
    """The vectors of a trip from where they were copied to; the same for each row of the gang."""
    stage, element, w = gang.staged[op], _element(op.operands[0]), gang.w
    gang.accesses(op.operands[0], "vectors copied side by side for all rows of a task")
    variable = stage.loop.regions[0].params[0].type
    assert isinstance(variable, Scalar)
    trip = gang.trips[stage.loop]
    if variable.bits < 64:
        trip = w.value(f"zext i{variable.bits} {trip} to i64")
    moved = w.value(f"mul i64 {trip}, {stage.step}")
    names = []
    for start in stage.starts:
        pointer = w.value(f"getelementptr i8, ptr {start}, i64 {moved}")
        names.append(
            from_memory(gang, element, load_vector(gang, element, pointer, None), gang.layout.lanes)
        )
    return tuple(names) * gang.layout.rows


def _load_by_cases(gang: Gang, op: Op, whole: str) -> tuple[str, ...]:
    """All lanes inside, the usual case, without tests; else lane by lane."""
    memory, *indices = op.operands
    element = _element(memory)
    usual, rare, join = gang.fresh_labels("inside", "edge", "join")
    gang.w.branch(whole, usual, rare, likely=True)
    gang.w.begin(usual)
    with widened_here(gang, indices):
        plain, plain_end = _vector_loads(gang, memory, indices, Bounds()), gang.w.label
    gang.w.jump(join)
    gang.w.begin(rare)
    with gang.rare_case(), widened_here(gang, indices):
        bounds = bounds_of(gang, op, memory, indices)
        tested, tested_end = _vector_loads(gang, memory, indices, bounds), gang.w.label
    gang.w.jump(join)
    gang.w.begin(join)
    type = gang.vec.type(element)
    return tuple(
        gang.w.value(f"phi {type} [ {a}, %{plain_end} ], [ {b}, %{tested_end} ]")
        for a, b in zip(plain, tested, strict=True)
    )


def _scalar_load(gang: Gang, memory: Op, indices: Sequence[Op], bounds: Bounds) -> str:
    """Outside, the pointer goes to a zero: no branch, of which a long kernel would have many."""
    gang.accesses(memory, "one load for all units")
    element = _element(memory)
    pointer = element_pointer(gang, address_of(gang, memory, indices), 0, memory_type(element))
    if bounds.scalar is not None:
        zero = gang.module.zero()
        pointer = gang.w.value(f"select i1 {bounds.scalar}, ptr {pointer}, ptr {zero}")
    return load_element(gang, element, pointer)


def _part_loads(gang: Gang, memory: Op, indices: Sequence[Op], bounds: Bounds) -> tuple[str, ...]:
    """One element a part; a part whose lanes are all off must not touch memory."""
    element = _element(memory)
    gang.accesses(memory, "one load for each vector")
    address = address_of(gang, memory, indices)
    zero = gang.one.const(element, 0)

    def load_part(number: int) -> str:
        def make() -> str:
            pointer = element_pointer(gang, address, number, memory_type(element))
            return load_element(gang, element, pointer)

        condition = _part_condition(gang, bounds, number)
        if condition is None:
            return make()
        return guarded(gang, condition, register_type(element), zero, make)

    if gang.mask is not None or not bounds.certain:
        return tuple(load_part(number) for number in range(gang.parts))
    return _each_place(gang, address, load_part)


def _each_place(gang: Gang, address: Address, load_part: Callable[[int], str]) -> tuple[str, ...]:
    """A load for each part, of parts that go to one place once: rows of a gang share columns."""
    numbers = {address.of_part(number): number for number in reversed(range(gang.parts))}
    loaded = {place: load_part(number) for place, number in reversed(numbers.items())}
    return tuple(loaded[address.of_part(number)] for number in range(gang.parts))


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
    strided = mask is None and is_strided(gang, address)
    _write_down(gang, memory, indices, address, masked=mask is not None, strided=strided)

    def load_part(number: int) -> str:
        part = None if mask is None else mask[number]
        if address.contiguous:
            value = _contiguous_load(gang, address, number, element, part)
        elif strided:
            value = strided_load(gang, address, number, element)
        else:
            value = _gather(gang, address, number, element, part)
        return from_memory(gang, element, value, lanes)

    if mask is not None:
        return tuple(load_part(number) for number in range(gang.parts))
    return _each_place(gang, address, load_part)


def _write_down(
    gang: Gang,
    memory: Op,
    indices: Sequence[Op],
    address: Address,
    *,
    masked: bool,
    strided: bool = False,
    stores: bool = False,
) -> None:
    """Tell people how lanes and elements go together."""
    mask = ", masked" if masked else ""
    if not address.vectors and address.stride in (1, -1):
        turned = "" if address.stride == 1 else ", reversed by a shuffle"
        gang.accesses(memory, f"vectors of neighbouring elements{turned}{mask}")
    elif strided:
        gang.accesses(memory, f"vectors and shuffles: units lie {abs(address.stride)} apart")
    else:
        how = "scatter" if stores else "gather"
        reason = scattered_reason(gang, memory, indices)
        gang.accesses(memory, f"{how}, an address for each unit: {reason}{mask}")


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


def _gather(gang: Gang, address: Address, number: int, element: Scalar, mask: str | None) -> str:
    if mask is None and address.step and gang.module.target.does("strided"):
        one_by_one = stepped_pointers(gang, address, number, memory_type(element))
        return load_each(gang, element, one_by_one)
    pointers = lane_pointers(gang, address, number, memory_type(element))
    return gather(gang, element, pointers, mask)


# ── stores ──────────────────────────────────────────────────────────────────────────────────────


def emit_store(gang: Gang, op: Op) -> None:
    """`store`."""
    memory, *indices, value = op.operands
    gang.module.notes.op = op
    if isinstance(memory.type, PrivateType):
        private_store(gang, memory, indices, value, bounds_of(gang, op, memory, indices))
        return
    whole = wholly_inside(gang, op, memory, indices)
    if whole is None:
        _store(gang, op, bounds_of(gang, op, memory, indices))
        return
    gang.vectors(value)  # spread before the cases part
    usual, rare, join = gang.fresh_labels("inside", "edge", "join")
    gang.w.branch(whole, usual, rare, likely=True)
    gang.w.begin(usual)
    with widened_here(gang, indices):
        _store(gang, op, Bounds())
    gang.w.jump(join)
    gang.w.begin(rare)
    with gang.rare_case(), widened_here(gang, indices):
        _store(gang, op, bounds_of(gang, op, memory, indices))
    gang.w.jump(join)
    gang.w.begin(join)


def _store(gang: Gang, op: Op, bounds: Bounds) -> None:
    memory, *indices, value = op.operands
    element = _element(memory)
    if gang.values[value].shape.level == 0 and all(
        gang.values[i].shape.level == 0 for i in indices
    ):
        gang.accesses(memory, "one store for all units")
        when(gang, bounds.scalar, lambda: _scalar_store(gang, memory, indices, element, value))
        return
    vectors = gang.vectors(value)
    mask = access_mask(gang, bounds)
    address = address_of(gang, memory, indices)
    _write_down(gang, memory, indices, address, masked=mask is not None, stores=True)
    for number, vector in enumerate(vectors):
        part = None if mask is None else mask[number]
        stored = to_memory(gang, element, vector, gang.layout.lanes)
        if address.contiguous:
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


def _contiguous_store(
    gang: Gang, address: Address, number: int, element: Scalar, value: str, mask: str | None
) -> None:
    pointer = _first_pointer(gang, address, number, element)
    if address.stride == -1:
        value = _reverse(gang, shaped(memory_type(element), gang.layout.lanes), value)
        mask = None if mask is None else _reverse(gang, gang.mask_type, mask)
    store_vector(gang, element, pointer, value, mask)
