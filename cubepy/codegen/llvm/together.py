"""Where lanes could part but seldom do: a version without masks for when all go the same way.

A loop that lanes leave by its condition alone starts with trips that every lane makes; the loop
proper takes over at the first one that some lane does not. A branch inside a loop on a comparison
along the lanes has its arm written out once more for when every lane takes it. So a grid-stride
loop, and a guard in a loop, cost what they would on a processor without lanes, but for the edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cubepy.codegen.llvm.gang import Gang
from cubepy.ir import Op, Scalar, Trait, ops, walk

__all__ = ["arm_together", "first_version", "holds_everywhere", "least", "runs_together"]

_LOOPS = (ops.FOR, ops.WHILE)
_READS = (ops.LOAD, ops.LOAD_LOCAL, ops.YIELD)


def runs_together(gang: Gang, op: Op) -> bool:
    """Whether a loop gets a first version: every lane is on, none leaves in the middle of a trip,
    the condition can be asked twice, and no inner loop would be written out once more for it.
    """
    analysis = gang.analysis
    if gang.mask is not None or op not in analysis.divergent:
        return False
    if not gang.module.target.does("together"):
        return False
    if op in analysis.parted_break or op in analysis.parted_continue or op in analysis.thins:
        return False
    if any(_repeats(gang, inner) for region in op.regions for inner in walk(region)):
        return False
    condition = op.regions[0].ops if op.opdef is ops.WHILE else ()
    return all(inner.opdef in _READS or inner.opdef.has(Trait.PURE) for inner in condition)


_LARGEST_ARM = 100


def arm_together(gang: Gang, op: Op) -> str | None:
    """Whether every lane takes the first arm of an `if` (i1), where asking is cheap and writing
    the arm out once more is worth it; else None.
    """
    if gang.mask is not None or not gang.asks or op in gang.analysis.thins or gang.beside:
        return None
    if not gang.module.target.does("together"):
        return None
    inside = [inner for region in op.regions for inner in walk(region)]
    if len(inside) > _LARGEST_ARM or any(_repeats(gang, inner) for inner in inside):
        return None
    if any(inner.opdef in (ops.BREAK, ops.CONTINUE, ops.LEAVE, ops.RETURN) for inner in inside):
        return None
    return _by_ends(gang, op.operands[0])


def _repeats(gang: Gang, op: Op) -> bool:
    """What is costly to write out twice, or has memory of its own."""
    parting = op.opdef in _LOOPS and op in gang.analysis.divergent
    return parting or op.opdef is ops.LOCAL_ARRAY


@contextmanager
def first_version(gang: Gang) -> Iterator[None]:
    """Code whose ops are emitted once more behind it: what it defines is forgotten."""
    values, slots, mask = dict(gang.values), dict(gang.slots), gang.mask
    yield
    gang.values, gang.slots, gang.mask = values, slots, mask


def least(gang: Gang, scalar: Scalar, vectors: tuple[str, ...]) -> str:
    """The smallest of all lanes, unsigned."""
    total = vectors[0]
    for other in vectors[1:]:
        total = gang.vec.call("umin", scalar, total, other)
    lanes, element = gang.layout.lanes, gang.one.type(scalar)
    name = f"llvm.vector.reduce.umin.v{lanes}{element}"
    gang.module.declared[name] = f"declare {element} @{name}({gang.vec.type(scalar)})"
    return gang.w.value(f"call {element} @{name}({gang.vec.type(scalar)} {total})")


_PREDICATES = {ops.LT: "slt", ops.LE: "sle", ops.GT: "sgt", ops.GE: "sge"}
_MIRRORED = {ops.LT: ops.GT, ops.LE: ops.GE, ops.GT: ops.LT, ops.GE: ops.LE}


def holds_everywhere(gang: Gang, condition: Op) -> str:
    """Whether every lane's condition is true (i1): of a comparison along the lanes, by its last or
    first lanes alone.
    """
    ends = _by_ends(gang, condition)
    if ends is not None:
        return ends
    lanes, type = gang.layout.lanes, gang.mask_type
    total = None
    for part in gang.vectors(condition):
        total = part if total is None else gang.vec.both(total, part)
    if lanes == 1:
        return gang.w.value(f"extractelement {type} {total}, i64 0", "all")
    bits = gang.w.value(f"bitcast {type} {total} to i{lanes}")
    return gang.w.value(f"icmp eq i{lanes} {bits}, -1", "all")


def _by_ends(gang: Gang, condition: Op) -> str | None:
    """Base + stride * lane < bound, asked of the lane with most of it; None if it is no such."""
    if condition not in gang.values:  # part of one that was kept over a barrier
        return None
    if gang.values[condition].shape.level == 0:
        return gang.scalar(condition)
    if condition.opdef is ops.BIT_AND:
        both = [_by_ends(gang, operand) for operand in condition.operands]
        return gang.w.value(f"and i1 {both[0]}, {both[1]}", "all") if None not in both else None
    if condition.opdef not in _PREDICATES:
        return None
    row, (left, right) = condition.opdef, condition.operands
    if left not in gang.values or right not in gang.values:  # kept over a barrier without them
        return None
    if gang.values[left].shape.level == 0:
        row, left, right = _MIRRORED[row], right, left
    shape, bound, scalar = gang.values[left].shape, gang.values[right].shape, left.type
    assert isinstance(scalar, Scalar)
    if left.type is not right.type or not (scalar.is_signed and scalar.is_integer):
        return None
    if shape.level != 1 or bound.level > 1 or bound.stride:
        return None
    span = (gang.layout.lanes - 1) * shape.stride
    rising = row in (ops.LT, ops.LE)
    if not scalar.minimum <= span <= scalar.maximum:
        return None
    total: str | None = None
    for base, limit in zip(gang.bases(left), gang.bases(right), strict=True):
        # Where lanes wrap around, the saturated sum is beyond every bound that says anything.
        last = gang.one.call("sadd.sat", scalar, base, str(span))
        end = base if (span < 0) is rising else last
        test = gang.one.compare(f"icmp {_PREDICATES[row]}", scalar, end, limit)
        if end is base and span:  # what wraps around would come out at the other end
            exact = gang.one.instruction("add", scalar, base, str(span))
            flat = gang.one.compare("icmp eq", scalar, last, exact)
            test = gang.w.value(f"and i1 {test}, {flat}", "all")
        total = test if total is None else gang.w.value(f"and i1 {total}, {test}", "all")
    return total
