"""Where an access goes: the element offset of a subscript, split into what lanes share and what
they do not.

Offsets are sums over the axes of subscript times stride. Terms that all lanes share become one
scalar; terms affine in the lane keep a base a part and a constant stride; only the rest needs a
vector of offsets.
"""

from __future__ import annotations

from collections.abc import Sequence

from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.types import memory_type
from cubepy.codegen.llvm.values import Value, each_part
from cubepy.ir import INDEX, BufferType, Op, PrivateType, SharedType, StrideClass
from cubepy.records import dataclass, replace
from cubepy.target import WordKind

__all__ = [
    "Address",
    "address_of",
    "element_pointer",
    "lane_pointers",
    "stepped_pointers",
]

_KNOWN = {StrideClass.ZERO: 0, StrideClass.ONE: 1, StrideClass.MINUS_ONE: -1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """`base`: pointer common to the gang. `bases`: an i64 element offset a part, or () if none
    differs.

    `stride`: elements from lane to lane, and `step` those that only the launch knows, an i64.
    `vectors`: offsets that are neither, one `<L x i64>` a part, or ().
    """

    base: str
    bases: tuple[str, ...] = ()
    stride: int = 0
    step: str = ""
    vectors: tuple[str, ...] = ()

    @property
    def uniform(self) -> bool:
        """Whether every lane goes to one place."""
        return not self.bases and not self.vectors and self.stride == 0 and not self.step

    def of_part(self, part: int) -> tuple[str, str]:
        """What tells a part's place from that of others."""
        base = self.bases[part] if self.bases else ""
        return base, self.vectors[part] if self.vectors else ""

    @property
    def contiguous(self) -> bool:
        """Whether lanes lie side by side, in one order or the other."""
        return not self.vectors and not self.step and self.stride in (1, -1)


def _strides(memory: Op) -> list[int | None]:
    """Strides in elements where the type tells them, None where the launch does."""
    type = memory.type
    if isinstance(type, BufferType):
        return [_KNOWN.get(stride) for stride in type.strides]
    assert isinstance(type, SharedType | PrivateType)
    strides, step = [], 1
    for extent in reversed(type.shape):
        strides.append(step)
        step *= extent
    return list(reversed(strides))


def base_pointer(gang: Gang, memory: Op) -> str:
    """The pointer to element 0 of a buffer or of shared memory."""
    if isinstance(memory.type, BufferType):
        return gang.module.word(WordKind.POINTER, gang.module.params[memory])
    return gang.module.shared_pointer(memory)


def _factor(gang: Gang, memory: Op, axis: int, known: int | None) -> str:
    if known is not None:
        return str(known)
    return gang.module.word(WordKind.STRIDE, gang.module.params[memory], axis)


def _times(gang: Gang, name: str, factor: str) -> str:
    return name if factor == "1" else gang.w.value(f"mul i64 {name}, {factor}")


def _add(gang: Gang, total: str, term: str) -> str:
    return term if total == "0" else gang.w.value(f"add i64 {total}, {term}")


Term = tuple[Value, str]


def _common_pointer(gang: Gang, memory: Op, terms: Sequence[Term]) -> str:
    """The pointer moved on by all that the gang shares, each step right behind what it follows
    from: a loop is left with the steps that it changes.
    """
    assert isinstance(memory.type, BufferType | SharedType)
    element, pointer = memory_type(memory.type.element), base_pointer(gang, memory)
    for value, factor in sorted(terms, key=lambda term: term[0].age):
        step = (pointer, element, factor)
        if not gang.module.target.does("addresses"):
            pointer = _moved(gang, value, *step)
            continue
        if step not in value.places:
            assert value.hook is not None
            with gang.w.at(value.hook):
                value.places[step] = _moved(gang, value, *step)
        pointer = value.places[step]
    return pointer


def _moved(gang: Gang, value: Value, pointer: str, element: str, factor: str) -> str:
    offset = _times(gang, value.names[0], factor)
    return gang.w.value(f"getelementptr {element}, ptr {pointer}, i64 {offset}")


def _part_terms(gang: Gang, value: Value, factor: str) -> tuple[str, ...]:
    """What a subscript of one number a part adds to an offset, made where the subscript is."""

    def make() -> tuple[str, ...]:
        return each_part(lambda name: _times(gang, name, factor), value.names)

    if value.hook is None or not gang.module.target.does("addresses"):
        return make()
    if factor not in value.multiples:
        with gang.w.at(value.hook):
            value.multiples[factor] = make()
    return value.multiples[factor]


def address_of(gang: Gang, memory: Op, indices: Sequence[Op]) -> Address:
    """The address of an access to a buffer or to shared memory."""
    shared: list[Term] = []
    bases, stride, step = ["0"] * gang.parts, 0, "0"
    vectors: list[str] = []
    for axis, (index, known) in enumerate(zip(indices, _strides(memory), strict=True)):
        value = gang.values[index]
        if known == 0:
            continue
        factor = _factor(gang, memory, axis, known)
        if value.shape.level == 0:
            shared.append((value, factor))
        elif value.shape.level == 1:
            moved = _part_terms(gang, value, factor)
            bases = list(each_part(lambda total, term: _add(gang, total, term), bases, moved))
            stride += value.shape.stride * (known or 0)
            if known is None and value.shape.stride:
                step = _add(gang, step, _times(gang, factor, str(value.shape.stride)))
        else:
            terms = _vector_terms(gang, index, factor)
            vectors = terms if not vectors else _sum(gang, vectors, terms)
    address = Address(
        base=_common_pointer(gang, memory, shared), bases=tuple(bases), stride=stride,
        step="" if step == "0" else step,
    )  # fmt: skip
    if vectors:
        offsets = (lane_offsets(gang, address, part) for part in range(gang.parts))
        return Address(base=address.base, vectors=tuple(_sum(gang, vectors, list(offsets))))
    varies = any(name != "0" for name in bases)
    return address if varies or stride or address.step else replace(address, bases=())


def _vector_terms(gang: Gang, index: Op, factor: str) -> list[str]:
    vectors = list(gang.vectors(index))
    if factor == "1":
        return vectors
    wide = gang.vec.everywhere("i64", factor)
    return [gang.vec.instruction("mul", INDEX, vector, wide) for vector in vectors]


def _sum(gang: Gang, a: Sequence[str], b: Sequence[str]) -> list[str]:
    return [gang.vec.instruction("add", INDEX, x, y) for x, y in zip(a, b, strict=True)]


def lane_offsets(gang: Gang, address: Address, part: int) -> str:
    """What `bases`, `stride` and `step` make of each lane, as a vector of i64."""
    lanes = range(gang.layout.lanes)
    offsets = "<" + ", ".join(f"i64 {lane * address.stride}" for lane in lanes) + ">"
    base = address.bases[part] if address.bases else "0"
    if address.step:
        ramp = "<" + ", ".join(f"i64 {lane}" for lane in lanes) + ">"
        wide = gang.vec.everywhere("i64", address.step)
        steps = gang.vec.instruction("mul", INDEX, wide, ramp)
        offsets = gang.vec.instruction("add", INDEX, steps, offsets)
    if base == "0":
        return offsets
    return gang.vec.instruction("add", INDEX, gang.vec.everywhere("i64", base), offsets)


def element_pointer(gang: Gang, address: Address, part: int, element: str) -> str:
    """The pointer to the part's first lane."""
    base = address.bases[part] if address.bases else "0"
    if base == "0":
        return address.base
    return gang.w.value(f"getelementptr {element}, ptr {address.base}, i64 {base}")


def lane_pointers(gang: Gang, address: Address, part: int, element: str) -> str:
    """A pointer a lane."""
    lanes = gang.layout.lanes
    offsets = address.vectors[part] if address.vectors else lane_offsets(gang, address, part)
    return gang.w.value(
        f"getelementptr {element}, ptr {address.base}, <{lanes} x i64> {offsets}", "p"
    )


def stepped_pointers(gang: Gang, address: Address, part: int, element: str) -> list[str]:
    """The same one by one, for lanes that lie equally far apart."""
    step = gang.w.value(f"add i64 {address.step}, {address.stride}")
    pointers = [element_pointer(gang, address, part, element)]
    for _ in range(1, gang.layout.lanes):
        pointers.append(gang.w.value(f"getelementptr {element}, ptr {pointers[-1]}, i64 {step}"))
    return pointers
