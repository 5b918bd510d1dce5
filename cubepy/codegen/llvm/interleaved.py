"""Neighbouring elements of every unit: `x[4*i]`, `x[4*i + 1]` … read or written side by side.

Each access alone would gather or scatter. Together they cover memory without gaps, so the gang
reads or writes whole vectors, and shuffles bring the elements to the units and back. Accesses count
as together if nothing between them could notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cubepy.codegen.llvm.access import from_memory, load_vector, store_vector, to_memory
from cubepy.codegen.llvm.address import address_of, element_pointer
from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.types import memory_type, shaped
from cubepy.ir import BufferType, Op, Region, Scalar, SharedType, StrideClass, Trait, ops
from cubepy.records import dataclass

__all__ = ["Neighbours", "emit_neighbours", "neighbours_of"]

# More than that many would need more registers than there are.
LARGEST = 8
_HARMLESS = (ops.LOCAL, ops.LOAD_LOCAL, ops.STORE_LOCAL, ops.LENGTH, ops.STRIDE)


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Loads or stores of one memory whose last subscripts are so many consecutive numbers."""

    accesses: tuple[Op, ...]


def neighbours_of(region: Region) -> dict[Op, Neighbours]:
    """The accesses of a region that go together, each with all of its group."""
    found: dict[Op, Neighbours] = {}
    for run in _runs(region.ops):
        group = Neighbours(tuple(run))
        found |= dict.fromkeys(run, group)
    return found


def _runs(sequence: Sequence[Op]) -> Iterator[list[Op]]:
    """Groups of two, four or eight accesses in program order."""
    run: list[Op] = []
    for op in sequence:
        if run and _continues(run, op):
            run.append(op)
        elif op.opdef in (ops.LOAD, ops.STORE):
            yield from _cut(run)
            run = [op] if isinstance(op.operands[0].type, BufferType | SharedType) else []
        elif not (op.opdef.has(Trait.PURE) or op.opdef in _HARMLESS):
            yield from _cut(run)
            run = []
    yield from _cut(run)


def _cut(run: list[Op]) -> Iterator[list[Op]]:
    """The largest groups that a run of neighbours consists of."""
    start = 0
    while len(run) - start >= 2:
        size = min(LARGEST, 1 << ((len(run) - start).bit_length() - 1))
        yield run[start : start + size]
        start += size


def _continues(run: Sequence[Op], op: Op) -> bool:
    """Whether an access is the next neighbour of the last one of a run."""
    last = run[-1]
    if op.opdef is not last.opdef or op.operands[0] is not last.operands[0]:
        return False
    (*outer, before), (*others, here) = _subscripts(last), _subscripts(op)
    if outer != others:
        return False
    (root, offset), (same, place) = _apart(before), _apart(here)
    return root is same and place == offset + 1


def _subscripts(op: Op) -> tuple[Op, ...]:
    memory = op.operands[0].type
    assert isinstance(memory, BufferType | SharedType)
    return op.operands[1 : 1 + memory.rank]


def _apart(index: Op) -> tuple[Op, int]:
    """A subscript as a value and a constant added to it."""
    if index.opdef is ops.ADD and index.operands[1].opdef is ops.CONST:
        value = index.operands[1].attrs["value"]
        assert isinstance(value, int)
        return index.operands[0], value
    return index, 0


# ── emission ─────────────────────────────────────────────────────────────────────────────────────


def emit_neighbours(gang: Gang, group: Neighbours, op: Op) -> bool:
    """One access of a group, perhaps with all others. False: it is to be emitted by itself."""
    if not _together(gang, group):
        return False
    if op.opdef is ops.LOAD and op is group.accesses[0]:
        _load(gang, group)
    elif op.opdef is ops.STORE and op is group.accesses[-1]:
        _store(gang, group)
    return True


def _together(gang: Gang, group: Neighbours) -> bool:
    """Whether all lanes are on, all accesses inside, and the units' groups next to each other."""
    first = group.accesses[0]
    memory = first.operands[0].type
    contiguous = not isinstance(memory, BufferType) or memory.strides[-1] is StrideClass.ONE
    if gang.mask is not None or gang.layout.lanes < 2 or not contiguous:
        return False
    if not all(op.attrs["check"] == "unchecked" or op in gang.inside for op in group.accesses):
        return False
    *outer, last = (gang.values[index].shape for index in _subscripts(first))
    return all(shape.level == 0 for shape in outer) and (last.level, last.stride) == (
        1,
        len(group.accesses),
    )


def _pointers(gang: Gang, group: Neighbours) -> Iterator[list[str]]:
    """For each part where the vectors begin that its elements lie in."""
    first = group.accesses[0]
    memory = first.operands[0]
    element = memory_type(_element(memory))
    address = address_of(gang, memory, _subscripts(first))
    for part in range(gang.parts):
        start = element_pointer(gang, address, part, element)
        yield [
            gang.w.value(f"getelementptr {element}, ptr {start}, i64 {at * gang.layout.lanes}")
            if at
            else start
            for at in range(len(group.accesses))
        ]


def _element(memory: Op) -> Scalar:
    assert isinstance(memory.type, BufferType | SharedType)
    return memory.type.element


def _load(gang: Gang, group: Neighbours) -> None:
    element, lanes = _element(group.accesses[0].operands[0]), gang.layout.lanes
    _write_down(gang, group)
    columns: list[list[str]] = []
    for pointers in _pointers(gang, group):
        vectors = [load_vector(gang, element, pointer, None) for pointer in pointers]
        apart = _spread(vectors, _picker(gang, element), lanes)
        columns.append([from_memory(gang, element, each, lanes) for each in apart])
    for number, op in enumerate(group.accesses):
        gang.define(op, tuple(column[number] for column in columns))


def _store(gang: Gang, group: Neighbours) -> None:
    element, lanes = _element(group.accesses[0].operands[0]), gang.layout.lanes
    values = [gang.vectors(op.operands[-1]) for op in group.accesses]
    _write_down(gang, group)
    for part, pointers in enumerate(_pointers(gang, group)):
        stored = [to_memory(gang, element, names[part], lanes) for names in values]
        for pointer, vector in zip(
            pointers, _merged(stored, _picker(gang, element), lanes), strict=True
        ):
            store_vector(gang, element, pointer, vector, None)


def _write_down(gang: Gang, group: Neighbours) -> None:
    text = f"vectors and shuffles, together with its {len(group.accesses) - 1} neighbours"
    for op in group.accesses:
        gang.module.notes.op = op
        gang.accesses(op.operands[0], text)


Picker = Callable[[str, str, Sequence[int]], str]


def _picker(gang: Gang, element: Scalar) -> Picker:
    """A function that picks lanes of two vectors, the second one's behind the first one's."""
    type, lanes = shaped(memory_type(element), gang.layout.lanes), gang.layout.lanes

    def pick(a: str, b: str, places: Sequence[int]) -> str:
        order = ", ".join(f"i32 {place}" for place in places)
        return gang.w.value(f"shufflevector {type} {a}, {type} {b}, <{lanes} x i32> <{order}>")

    return pick


def _spread(vectors: Sequence[str], pick: Picker, lanes: int) -> list[str]:
    """Of n vectors that follow each other: every n-th element, from each of the first n on."""
    if len(vectors) == 1:
        return list(vectors)
    pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
    even = _spread([pick(a, b, range(0, 2 * lanes, 2)) for a, b in pairs], pick, lanes)
    odd = _spread([pick(a, b, range(1, 2 * lanes, 2)) for a, b in pairs], pick, lanes)
    return [each for pair in zip(even, odd, strict=True) for each in pair]


def _merged(vectors: Sequence[str], pick: Picker, lanes: int) -> list[str]:
    """What `_spread` took apart, put together."""
    if len(vectors) == 1:
        return list(vectors)
    even = _merged(vectors[::2], pick, lanes)
    odd = _merged(vectors[1::2], pick, lanes)
    found: list[str] = []
    for a, b in zip(even, odd, strict=True):
        for start in (0, lanes // 2):
            places = [place for at in range(start, start + lanes // 2)
                      for place in (at, lanes + at)]  # fmt: skip
            found.append(pick(a, b, places))
    return found
