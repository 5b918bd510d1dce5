"""Loads of every second, third or fourth element: the vectors they lie in, and shuffles.

Only for lanes that are all on: then the first and the last lane are inside the array, and so is
everything between them, which is all that is read.
"""

from __future__ import annotations

from cubepy.codegen.llvm.access import load_vector
from cubepy.codegen.llvm.address import Address, element_pointer
from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.types import memory_type, shaped
from cubepy.ir import Scalar

__all__ = ["is_strided", "strided_load"]

_STRIDES = (-4, -3, -2, 2, 3, 4)


def is_strided(gang: Gang, address: Address) -> bool:
    """Whether lanes lie a small constant number of elements apart."""
    apart = not address.vectors and not address.step and address.stride in _STRIDES
    return apart and gang.layout.lanes > 1


def strided_load(gang: Gang, address: Address, number: int, element: Scalar) -> str:
    """One part, in memory form."""
    lanes, step = gang.layout.lanes, abs(address.stride)
    memory, last = memory_type(element), (lanes - 1) * step
    places = [lane * step for lane in range(lanes)]
    lowest = element_pointer(gang, address, number, memory)
    if address.stride < 0:
        places.reverse()
        lowest = gang.w.value(f"getelementptr {memory}, ptr {lowest}, i64 {-last}")
    type, result = shaped(memory, lanes), "poison"
    taken: set[int] = set()
    for begin in range(0, last + 1, lanes):
        start = min(begin, last + 1 - lanes)  # the last vector ends where the last lane does
        here = [lane for lane, at in enumerate(places) if start <= at < start + lanes]
        if not taken.issuperset(here):
            pointer = gang.w.value(f"getelementptr {memory}, ptr {lowest}, i64 {start}")
            vector = load_vector(gang, element, pointer, None)
            picks = [lanes + places[n] - start if n in here else n for n in range(lanes)]
            order = ", ".join(
                f"i32 {pick if n in taken or n in here else 'poison'}"
                for n, pick in enumerate(picks)
            )
            result = gang.w.value(
                f"shufflevector {type} {result}, {type} {vector}, <{lanes} x i32> <{order}>"
            )
            taken.update(here)
    return result
