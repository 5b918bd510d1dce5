"""Accesses along the range of a loop, tested once ahead of it.

In `for k in range(start[i], start[i + 1]): … value[k] …` the bounds of the range are numbers by the
time the loop is come to, so one look at its ends tells whether `value[k]` is inside in every trip.
Subscripts that were made before the loop, as `row` in `table[row, k]`, are looked at with them. The
loop is written out once without those tests, for when all are inside, and once with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce

from cubepy.codegen.llvm.bounds import all_inside
from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.guards import taken_apart
from cubepy.codegen.llvm.notes import EDGES
from cubepy.codegen.llvm.together import first_version
from cubepy.ir import INDEX, Op, Scalar, ops, walk
from cubepy.ir.analyses import subscripts

__all__ = ["along_range", "range_inside", "taken_as_inside"]

# Ops of a loop from which on writing it out twice takes too long to compile.
_LARGEST = 100
_FARTHEST = 1 << 32


def along_range(gang: Gang, loop: Op) -> tuple[Op, ...]:
    """The accesses in a loop, over a range that all units share, that its range and what was made
    before it decide; none where the loop is not worth writing out twice.
    """
    if not gang.module.target.does("ranges") or gang.module.notes.version == EDGES:
        return ()
    step, scalar = loop.operands[2].attrs.get("value"), loop.regions[0].params[0].type
    assert isinstance(scalar, Scalar)
    if not isinstance(step, int) or step <= 0 or gang.beside:
        return ()
    if scalar.bits == 64 and not scalar.is_signed:  # its ends are compared as signed numbers
        return ()
    inside = list(walk(loop.regions[0]))
    if len(inside) > _LARGEST or any(op.opdef in (ops.FOR, ops.WHILE, ops.LOCAL_ARRAY)
                                     for op in inside):  # fmt: skip
        return ()
    changing = frozenset(inside)
    return tuple(op for op in inside if _decided(gang, loop, op, changing))


def _decided(gang: Gang, loop: Op, op: Op, changing: frozenset[Op]) -> bool:
    if op.attrs.get("check", "unchecked") == "unchecked" or op in gang.inside:
        return False
    indices = subscripts(op)
    if not any(_follows(loop, index) for index in indices):
        return False
    return all(
        _follows(loop, index) or (index in gang.values and index not in changing)
        for index in indices
    )


def _follows(loop: Op, index: Op) -> bool:
    base, offset = _from_variable(index)
    return base is loop.regions[0].params[0] and abs(offset) < _FARTHEST


def _from_variable(index: Op) -> tuple[Op | None, int]:
    """A subscript as a value of a loop and a number; widening changes no value."""
    base, offset = taken_apart(index)
    if base is not None and base.opdef is ops.CAST and base.type is INDEX:
        source = base.operands[0].type
        if isinstance(source, Scalar) and source.is_integer and source.bits < 64:
            base = base.operands[0]
    return base, offset


def range_inside(gang: Gang, loop: Op, accesses: tuple[Op, ...]) -> str:
    """Whether (i1) all of these accesses are inside in each trip."""
    start, stop = (_wide(gang, bound) for bound in loop.operands[:2])
    places = {
        (gang.module.shape_of(op.operands[0], axis), index): None
        for op in accesses
        for axis, index in enumerate(subscripts(op))
    }
    ends: dict[tuple[str, str, str], None] = {}
    tests: dict[str, None] = {}
    for extent, index in places:
        if not _follows(loop, index):
            tests.update(dict.fromkeys(all_inside(gang, index, extent)))
            continue
        offset = _from_variable(index)[1]
        room = gang.w.value(f"sub i64 {extent}, {offset}") if offset else extent
        ends["sge", start, str(-offset)] = None
        ends["sle", stop, room] = None
    for order, bound, limit in ends:
        tests[gang.w.value(f"icmp {order} i64 {bound}, {limit}", "in")] = None
    return reduce(lambda total, test: gang.w.value(f"and i1 {total}, {test}", "in"), tests)


def _wide(gang: Gang, bound: Op) -> str:
    scalar, name = bound.type, gang.scalar(bound)
    assert isinstance(scalar, Scalar)
    if scalar.bits == 64:
        return name
    return gang.w.value(f"{'sext' if scalar.is_signed else 'zext'} i{scalar.bits} {name} to i64")


@contextmanager
def taken_as_inside(gang: Gang, accesses: tuple[Op, ...]) -> Iterator[None]:
    """Code in which these accesses are inside, to be followed by code in which they may not be."""
    gang.ranged = frozenset(accesses)
    with first_version(gang):
        yield
    gang.ranged = frozenset()
