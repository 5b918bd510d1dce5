"""How many vector registers a unit's values hold all through a loop: what is carried from trip to
trip, and what lanes bring along from outside.

Values made and used within a trip are not counted: there are always some, and they come and go. The
width of a gang is chosen so that the rest stays in registers.
"""

from __future__ import annotations

from collections.abc import Iterator

from cubepy.ir import BOOL, INDEX, Kernel, Op, Region, Scalar, Trait, ops, walk

__all__ = ["held_in_loops"]

_LOOPS = (ops.FOR, ops.WHILE)
_WORD = 32


def held_in_loops(kernel: Kernel) -> int:
    """Registers that the most demanding innermost loop holds, for as many lanes as have words of 32
    bits in one.
    """
    varying = _varying(kernel.body)
    return max((_held(loop, varying) for loop in _innermost(kernel.body)), default=0)


def _innermost(region: Region) -> Iterator[Op]:
    for op in walk(region):
        if op.opdef in _LOOPS and not any(inner.opdef in _LOOPS for inner in _inside(op)):
            yield op


def _inside(op: Op) -> Iterator[Op]:
    for region in op.regions:
        yield from walk(region)


def _varying(body: Region) -> set[Op]:
    """Values that can differ from lane to lane by what they are made of."""
    found: set[Op] = set()
    rest, size = list(walk(body)), -1
    while size != len(found):  # a variable may be read before the store that makes it differ
        size = len(found)
        unknown: list[Op] = []
        for op in rest:
            if op.opdef.has(Trait.VARYING) or not found.isdisjoint(op.operands):
                found.add(op)
                if op.opdef is ops.STORE_LOCAL:
                    found.add(op.operands[0])
            else:
                unknown.append(op)
        rest = unknown
    return found


def _held(loop: Op, varying: set[Op]) -> int:
    inside = set(_inside(loop))
    parameters = {param for region in loop.regions for param in region.params}
    read = {op.operands[0] for op in inside if op.opdef is ops.LOAD_LOCAL}
    brought = {
        operand
        for op in inside
        for operand in op.operands
        if operand in varying and operand not in inside and operand not in parameters
        and operand.opdef is not ops.LOCAL
    }  # fmt: skip
    types = [*(slot.attrs["element"] for slot in read - inside), *(op.type for op in brought)]
    return sum(map(_registers, types))


def _registers(type: object) -> int:
    """Places of lanes are kept as one number a vector."""
    if not isinstance(type, Scalar) or type is INDEX or type is BOOL:
        return 0
    return -(-type.bits // _WORD)
