"""Loads of every second, third or fourth element: the vectors they lie in, and shuffles.

Only for lanes that are all on: then the first and the last lane are inside the array, and so is
everything between them, which is all that is read.
"""

from __future__ import annotations

from cubepy.codegen.llvm.address import Address, element_pointer
from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.types import memory_type, shaped
from cubepy.ir import Scalar

__all__ = ["is_strided", "strided_load"]

_STRIDES = (-4, -3, -2, 2, 3, 4)


def is_strided(gang: Gang, address: Address) -> bool:
    """Whether lanes lie a small constant number of elements apart."""
    apart = not address.vectors and not address.step and address.stride in _STRIDES
    return apart and gang.layout.lanes > 1 and gang.module.target.does("strided")


def strided_load(gang: Gang, address: Address, number: int, element: Scalar) -> str:
    """One part, in memory form."""
    lanes, step = gang.layout.lanes, abs(address.stride)
    memory, last = memory_type(element), (lanes - 1) * step
    places = [lane * step for lane in range(lanes)]
    lowest = element_pointer(gang, address, number, memory)
    if address.stride < 0:
        places.reverse()
        lowest = gang.w.value(f"getelementptr {memory}, ptr {lowest}, i64 {-last}")
    taken = _Taken(gang, memory)
    size = _piece(lanes, element, last + 1)
    for begin in range(0, last + 1, size):
        start = min(begin, last + 1 - size)  # the last vector ends where the last lane does
        here = [lane for lane, at in enumerate(places) if start <= at < start + size]
        if not taken.lanes.issuperset(here):
            pointer = gang.w.value(f"getelementptr {memory}, ptr {lowest}, i64 {start}")
            type = shaped(memory, size)
            vector = gang.w.value(f"load {type}, ptr {pointer}, align {element.size}")
            taken.take(vector, size, {lane: places[lane] - start for lane in here})
    return taken.result


_REGISTER = 16


def _piece(lanes: int, element: Scalar, span: int) -> int:
    """Elements of a load: a gang's, or as many small ones as a register holds."""
    whole = max(lanes, _REGISTER // element.size)
    return whole if whole <= span else lanes


class _Taken:
    """The vector that the lanes found so far make."""

    def __init__(self, gang: Gang, memory: str) -> None:
        self.gang, self.memory = gang, memory
        self.lanes: set[int] = set()
        self.result = "poison"

    def take(self, vector: str, size: int, places: dict[int, int]) -> None:
        """Add lanes from their places in a vector of `size` elements."""
        lanes, w = self.gang.layout.lanes, self.gang.w
        wide, type = shaped(self.memory, size), shaped(self.memory, lanes)
        picks = ", ".join(f"i32 {places.get(lane, 'poison')}" for lane in range(lanes))
        picked = w.value(f"shufflevector {wide} {vector}, {wide} poison, <{lanes} x i32> <{picks}>")
        order = ", ".join(
            f"i32 {lanes + lane if lane in places else lane if lane in self.lanes else 'poison'}"
            for lane in range(lanes)
        )
        self.result = w.value(
            f"shufflevector {type} {self.result}, {type} {picked}, <{lanes} x i32> <{order}>"
        )
        self.lanes.update(places)
