"""What each line of a kernel costs, by a static model: the ops of the IR as the emitter got it.

Every op has a price, less where all units of a cube share its result; loops multiply it by their
trips (or by a guess), and a line pays for all that was made of it, library functions included. The
prices are rough, and the same for every target: the model says where to look first, and a
measurement what is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from cubepy.ir import BufferType, Kernel, Op, Region, Trait, ops
from cubepy.ir.analyses import UNIFORM, analyze_cube
from cubepy.location import Loc

__all__ = ["Cost", "estimated_costs"]

#: Trips taken for granted of a loop whose bounds are not known.
TRIPS = 16
#: The most that known trips count for: a longer loop is no more worth looking at.
MOST_TRIPS = 4096
_DEAR = {
    ops.DIV: 8, ops.FLOOR_DIV: 12, ops.FLOOR_MOD: 12, ops.TRUNC_DIV: 10, ops.TRUNC_REM: 10,
    ops.SQRT: 8,
}  # fmt: skip
_FREE = (ops.CONST, ops.PARAM, ops.LOCAL, ops.LOAD_LOCAL, ops.STORE_LOCAL, ops.SHARED,
         ops.LOCAL_ARRAY, ops.LENGTH, ops.STRIDE, ops.YIELD)  # fmt: skip
# What is the same for all units of a cube is worked out once for many of them.
_SHARED_BY_UNITS = 1 / 8
_BUFFER, _NEAR, _ATOMIC, _PLANE, _LIBRARY = 4, 2, 24, 8, 20

Place = tuple[str, int]


class Cost(NamedTuple):
    """`share` of all that a kernel costs; `number` in the unit of what counted it."""

    number: float
    share: float


def estimated_costs(kernel: Kernel) -> Mapping[Place, Cost]:
    """The cost of each line that has any; a line that calls pays for what it called too."""
    prices: dict[Place, float] = {}
    total = 0.0
    functions = {function.name: function.body for function in kernel.functions}
    known = analyze_cube(kernel)

    def price_of(op: Op) -> float:
        return _price(op) * (_SHARED_BY_UNITS if known.shape(op) == UNIFORM else 1)

    for loc, price in _prices(kernel.body, 1.0, functions, price_of):
        total += price
        for place in _places(loc):
            prices[place] = prices.get(place, 0.0) + price
    return {
        place: Cost(number=price, share=price / total) for place, price in prices.items() if price
    }


def _places(loc: Loc) -> set[Place]:
    """A line once, however often the calls that led here pass it."""
    found = set()
    at: Loc | None = loc if loc.known else None
    while at is not None:
        found.add((at.file, at.line))
        at = at.inlined_at
    return found


def _prices(
    region: Region,
    times: float,
    functions: Mapping[str, Region],
    price_of: Callable[[Op], float],
) -> Iterator[tuple[Loc, float]]:
    for op in region.ops:
        yield op.loc, times * price_of(op)
        inner = times * _trips(op)
        for part in op.regions:
            yield from _prices(part, inner, functions, price_of)
        if op.opdef is ops.CALL:
            called = functions.get(str(op.attrs["callee"]))
            for loc, price in _prices(called, times, functions, price_of) if called else ():
                yield loc.called_from(op.loc) if loc.known else op.loc, price


def _price(op: Op) -> float:
    row = op.opdef
    if row in _DEAR:
        return _DEAR[row]
    if row in _FREE or op.regions:
        return 0
    if row in (ops.LOAD, ops.STORE):
        return _BUFFER if isinstance(op.operands[0].type, BufferType) else _NEAR
    if row.has(Trait.ATOMIC):
        return _ATOMIC
    if row.has(Trait.PLANE):
        return _PLANE
    return _LIBRARY if row.has(Trait.LIBRARY) else 1


def _trips(op: Op) -> float:
    if op.opdef is ops.WHILE:
        return TRIPS
    if op.opdef is not ops.FOR:
        return 1
    bounds = [each.attrs.get("value") for each in op.operands if each.opdef is ops.CONST]
    if len(bounds) != 3:
        return TRIPS
    start, stop, step = (int(bound) for bound in bounds)  # type: ignore[arg-type]
    if not step:
        return 0
    trips = (stop - start + step - (1 if step > 0 else -1)) // step
    return min(max(trips, 0), MOST_TRIPS)
