"""Single accesses to memory: elements, vectors, gathers, scatters, with or without a mask.

A bool is a byte in memory and a bit in registers; a lane that a mask turns off reads 0 and writes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cubepy.codegen.llvm.bounds import Bounds, combined
from cubepy.codegen.llvm.gang import Gang, Mask
from cubepy.codegen.llvm.types import memory_type, shaped
from cubepy.ir import BF16, BOOL, Scalar

__all__ = [
    "access_mask",
    "from_memory",
    "gather",
    "guarded",
    "load_each",
    "load_element",
    "load_vector",
    "scatter",
    "store_element",
    "store_vector",
    "to_memory",
    "when",
]


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
    lanes = gang.layout.lanes
    each = (
        gang.w.value(f"extractelement <{lanes} x ptr> {pointers}, i64 {lane}")
        for lane in range(lanes)
    )
    return load_each(gang, element, list(each))


def load_each(gang: Gang, element: Scalar, pointers: Sequence[str]) -> str:
    """A lane from each pointer, by scalar loads, in memory form."""
    lanes, scalar = gang.layout.lanes, memory_type(element)
    result = "poison"
    for lane, pointer in enumerate(pointers):
        value = gang.w.value(f"load {scalar}, ptr {pointer}, align {_align(element)}")
        result = gang.w.value(
            f"insertelement <{lanes} x {scalar}> {result}, {scalar} {value}, i64 {lane}"
        )
    return result


def store_vector(gang: Gang, element: Scalar, pointer: str, value: str, mask: str | None) -> None:
    """Neighbouring elements, those whose mask is on."""
    type, align = shaped(memory_type(element), gang.layout.lanes), _align(element)
    if mask is None:
        gang.w.line(f"store {type} {value}, ptr {pointer}, align {align}")
        return
    integer = element.bits < 64 and (not element.is_float or element is BF16)
    if integer and gang.module.target.features.mask_registers:
        value = _apart(gang, element, value, gang.layout.lanes)
    name = f"llvm.masked.store.{gang.vec.mangle(memory_type(element))}.p0"
    gang.module.declared[name] = f"declare void @{name}({type}, ptr, {gang.mask_type})"
    gang.w.line(
        f"call void @{name}({type} {value}, ptr align {align} {pointer}, {gang.mask_type} {mask})"
    )


def _apart(gang: Gang, element: Scalar, value: str, lanes: int) -> str:
    """The same value, of which LLVM does not know how it came about.

    LLVM 22 makes one masked store of a truncation and a masked store, and where the mask turns out
    to be a constant with one lane on, a store of that lane in its full width: over its neighbour.
    An empty piece of assembly stands between; it takes one register, of 128 bits or more.
    """
    bits = element.size * 8
    if lanes * bits > gang.module.target.features.vector_bits:
        return _apart_by_halves(gang, element, value, lanes)
    name = memory_type(element)
    whole = max(lanes, 128 // bits)
    if whole > lanes:
        value = _resized(gang, name, value, lanes, whole)
    type = shaped(name, whole)
    value = gang.w.value(f'call {type} asm "", "=v,0"({type} {value})')
    return _resized(gang, name, value, whole, lanes) if whole > lanes else value


def _apart_by_halves(gang: Gang, element: Scalar, value: str, lanes: int) -> str:
    name, half = memory_type(element), lanes // 2
    type, halves = shaped(name, lanes), []
    for start in (0, half):
        picks = ", ".join(f"i32 {start + lane}" for lane in range(half))
        part = f"shufflevector {type} {value}, {type} poison, <{half} x i32> <{picks}>"
        halves.append(_apart(gang, element, gang.w.value(part), half))
    picks = ", ".join(f"i32 {lane}" for lane in range(lanes))
    low, high = (f"{shaped(name, half)} {each}" for each in halves)
    return gang.w.value(f"shufflevector {low}, {high}, <{lanes} x i32> <{picks}>")


def _resized(gang: Gang, element: str, value: str, old: int, new: int) -> str:
    type = shaped(element, old)
    picks = ", ".join(f"i32 {lane if lane < old else 'poison'}" for lane in range(new))
    return gang.w.value(f"shufflevector {type} {value}, {type} poison, <{new} x i32> <{picks}>")


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


def load_element(gang: Gang, element: Scalar, pointer: str) -> str:
    """One element."""
    loaded = gang.w.value(f"load {memory_type(element)}, ptr {pointer}, align {_align(element)}")
    return from_memory(gang, element, loaded, 0)


def store_element(gang: Gang, element: Scalar, pointer: str, value: str) -> None:
    """One element."""
    stored = to_memory(gang, element, value, 0)
    gang.w.line(f"store {memory_type(element)} {stored}, ptr {pointer}, align {_align(element)}")
