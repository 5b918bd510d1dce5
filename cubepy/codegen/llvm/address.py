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
from cubepy.ir import INDEX, BufferType, Op, PrivateType, SharedType, StrideClass
from cubepy.records import dataclass
from cubepy.target import WordKind

__all__ = ["Address", "address_of", "element_pointer"]

_KNOWN = {StrideClass.ZERO: 0, StrideClass.ONE: 1, StrideClass.MINUS_ONE: -1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """`base`: pointer common to the gang. `bases`: an i64 element offset a part, or () if none
    differs.

    `stride`: elements from lane to lane. `vectors`: offsets that are neither, one `<L x i64>` a
    part, or ().
    """

    base: str
    bases: tuple[str, ...]
    stride: int
    vectors: tuple[str, ...]

    @property
    def uniform(self) -> bool:
        """Whether every lane goes to one place."""
        return not self.bases and not self.vectors and self.stride == 0


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
    assert isinstance(memory.type, SharedType)
    offset = gang.module.arena[memory]
    return gang.w.value(f"getelementptr i8, ptr %arena, i64 {offset}")


def _times(gang: Gang, name: str, memory: Op, axis: int, known: int | None) -> str:
    if known == 1:
        return name
    if known is not None:
        return gang.w.value(f"mul i64 {name}, {known}")
    stride = gang.module.word(WordKind.STRIDE, gang.module.params[memory], axis)
    return gang.w.value(f"mul i64 {name}, {stride}")


def _add(gang: Gang, total: str, term: str) -> str:
    return term if total == "0" else gang.w.value(f"add i64 {total}, {term}")


def element_offsets(
    gang: Gang, memory: Op, indices: Sequence[Op]
) -> tuple[str, list[str], int, list[str]]:
    """The shared offset, the offset a part ("0" if none), the lane stride, and the vectors ([] if
    none).
    """
    shared, bases, stride = "0", ["0"] * gang.parts, 0
    vectors: list[str] = []
    for axis, (index, known) in enumerate(zip(indices, _strides(memory), strict=True)):
        shape = gang.values[index].shape
        if known == 0:
            continue
        if shape.level == 0:
            shared = _add(gang, shared, _times(gang, gang.scalar(index), memory, axis, known))
        elif shape.level == 1 and (known is not None or shape.stride == 0):
            terms = [_times(gang, name, memory, axis, known) for name in gang.bases(index)]
            bases = [_add(gang, total, term) for total, term in zip(bases, terms, strict=True)]
            stride += shape.stride * (known or 0)
        else:
            terms = _vector_terms(gang, memory, index, axis, known)
            vectors = terms if not vectors else _sum(gang, vectors, terms)
    return shared, bases, stride, vectors


def _vector_terms(gang: Gang, memory: Op, index: Op, axis: int, known: int | None) -> list[str]:
    vectors = list(gang.vectors(index))
    if known == 1:
        return vectors
    if known is not None:
        factor = gang.vec.const(INDEX, known)
    else:
        stride = gang.module.word(WordKind.STRIDE, gang.module.params[memory], axis)
        factor = gang.vec.everywhere("i64", stride)
    return [gang.vec.instruction("mul", INDEX, vector, factor) for vector in vectors]


def _sum(gang: Gang, a: Sequence[str], b: Sequence[str]) -> list[str]:
    return [gang.vec.instruction("add", INDEX, x, y) for x, y in zip(a, b, strict=True)]


def address_of(gang: Gang, memory: Op, indices: Sequence[Op]) -> Address:
    """The address of an access to a buffer or to shared memory."""
    shared, bases, stride, vectors = element_offsets(gang, memory, indices)
    assert isinstance(memory.type, BufferType | SharedType)
    element = memory_type(memory.type.element)
    base = base_pointer(gang, memory)
    if shared != "0":
        base = gang.w.value(f"getelementptr {element}, ptr {base}, i64 {shared}")
    if vectors:
        vectors = _fold_bases(gang, bases, stride, vectors)
        return Address(base=base, bases=(), stride=0, vectors=tuple(vectors))
    varies = any(name != "0" for name in bases)
    return Address(
        base=base, bases=tuple(bases) if varies or stride else (), stride=stride, vectors=()
    )


def _fold_bases(gang: Gang, bases: Sequence[str], stride: int, vectors: Sequence[str]) -> list[str]:
    """Everything that differs between lanes as vectors."""
    return [
        vector if base == "0" and stride == 0 else _with_base(gang, base, stride, vector)
        for base, vector in zip(bases, vectors, strict=True)
    ]


def _with_base(gang: Gang, base: str, stride: int, vector: str) -> str:
    return gang.vec.instruction("add", INDEX, vector, lane_offsets(gang, base, stride))


def lane_offsets(gang: Gang, base: str, stride: int) -> str:
    """Base + stride * lane as a vector of i64."""
    lanes = range(gang.layout.lanes)
    ramp = "<" + ", ".join(f"i64 {lane * stride}" for lane in lanes) + ">"
    if base == "0":
        return ramp
    spread = gang.vec.everywhere("i64", base)
    return gang.vec.instruction("add", INDEX, spread, ramp) if stride else spread


def element_pointer(gang: Gang, address: Address, part: int, element: str) -> str:
    """The pointer to the part's first lane."""
    base = address.bases[part] if address.bases else "0"
    if base == "0":
        return address.base
    return gang.w.value(f"getelementptr {element}, ptr {address.base}, i64 {base}")


def lane_pointers(gang: Gang, address: Address, part: int, element: str) -> str:
    """A pointer a lane."""
    lanes = gang.layout.lanes
    if address.vectors:
        offsets = address.vectors[part]
    else:
        offsets = lane_offsets(gang, address.bases[part] if address.bases else "0", address.stride)
    return gang.w.value(
        f"getelementptr {element}, ptr {address.base}, <{lanes} x i64> {offsets}", "p"
    )
