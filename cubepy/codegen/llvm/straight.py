"""Neighbours that follow each other nearly everywhere: `i // width`, `i % width`, and `clamp(i + 1,
0, last)` as what they are within a row of a picture.

Over most gangs `i // width` is one number, `i % width` rises by one from unit to unit, and a clamp
does nothing. A version of the body takes that for granted of the values that subscripts are made
of, so that they are scalars and memory is read by whole vectors. Where such a value is made, its
ends are looked at; if they say otherwise the gang starts again in the usual version. So nothing may
have had an effect by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cubepy.codegen.llvm.along import floored
from cubepy.codegen.llvm.gang import Gang
from cubepy.ir import Kernel, Op, Region, Scalar, Trait, ops, scalar_type, walk
from cubepy.ir.analyses import FOLLOWED, Uniformity, subscripts

__all__ = ["emit_straight", "straight_ops"]

_SILENT = (ops.LOAD, ops.LOCAL, ops.LOAD_LOCAL, ops.STORE_LOCAL, ops.LENGTH, ops.STRIDE,
           ops.LOCAL_ARRAY, ops.YIELD)  # fmt: skip
_ACCESSES = (ops.LOAD, ops.STORE)
# Ops of a body from which on a further version of it takes too long to compile.
_LARGEST = 400

Analyze = Callable[[frozenset[Op]], Uniformity]


def straight_ops(kernel: Kernel, usual: Uniformity, analyze: Analyze) -> frozenset[Op]:
    """The ops to take for straight: those that make vectors of what would be gathered."""
    every = list(walk(kernel.body))
    if len(every) > _LARGEST:
        return frozenset()
    eligible = frozenset(op for op in _before_effects(kernel.body, usual) if _may_follow(op))
    if not eligible:
        return frozenset()
    hoped = analyze(eligible)
    better = (
        index for op in every if op.opdef in _ACCESSES for index in subscripts(op)
        if usual.shape(index).level == 2 and hoped.shape(index).level < 2
    )  # fmt: skip
    return eligible & frozenset(_made_of(better))


def _may_follow(op: Op) -> bool:
    scalar = op.type
    return (
        op.opdef in FOLLOWED and isinstance(scalar, Scalar)
        and scalar.is_integer and scalar.is_signed and scalar.bits >= 32
    )  # fmt: skip


def _before_effects(region: Region, usual: Uniformity) -> Iterator[Op]:
    """The ops that every unit comes to, in loops too, while a gang could still start again."""
    for op in region.ops:
        if op.opdef is ops.IF and op.operands[0] in usual.assumed:
            taken = op.regions[0 if usual.assumed[op.operands[0]] else 1]
            yield from _before_effects(taken, usual)
            if _has_effect(op):
                return
        elif _has_effect(op):
            return
        elif op.opdef is ops.FOR and op not in usual.divergent:
            yield from _before_effects(op.regions[-1], usual)
        elif not op.regions:
            yield op


def _has_effect(op: Op) -> bool:
    every = (op, *(inner for region in op.regions for inner in walk(region)))
    return any(
        each.attrs.get("check") == "validate"
        or not (each.opdef.has(Trait.PURE) or each.opdef in _SILENT or each.regions)
        for each in every
    )


def _made_of(values: Iterator[Op]) -> set[Op]:
    """The values and what they are computed from."""
    found: set[Op] = set()
    pending = list(values)
    while pending:
        op = pending.pop()
        if op not in found:
            found.add(op)
            pending += op.operands
    return found


# ── emission ────────────────────────────────────────────────────────────────────────────────────


def emit_straight(gang: Gang, op: Op) -> bool:
    """The value of an op that is taken for straight, behind the test that it is; gives False where
    it is none.
    """
    if op not in gang.analysis.followed or gang.analysis.shape(op).level == 2:
        return False
    left, right = (gang.values[operand].shape for operand in op.operands)
    if left.stride == right.stride == 0:
        return False
    if op.opdef in (ops.FLOOR_DIV, ops.FLOOR_MOD):
        _divided(gang, op)
    else:
        _unlimited(gang, op, 0 if left.stride else 1)
    return True


def _divided(gang: Gang, op: Op) -> None:
    """One quotient for the gang, if its units end before the next multiple of the divisor."""
    one, (left, right) = gang.one, op.operands
    scalar, divisor = scalar_type(op), gang.scalar(right)
    first, last = _ends(gang, left)
    above = one.call("smax", scalar, divisor, "1")  # what it is where the gang goes on
    quotient, remainder = floored(one, scalar, first, above)
    span = one.instruction("sub", scalar, last, first)
    room = one.instruction("sub", scalar, divisor, span)
    _go_on_if(
        gang,
        one.compare("icmp sgt", scalar, divisor, span),
        one.compare("icmp slt", scalar, remainder, room),
    )
    if op.opdef is ops.FLOOR_DIV:
        gang.define(op, (quotient,))
        return
    lanes = range(0, gang.layout.width, gang.layout.lanes)
    gang.define(op, tuple(one.instruction("add", scalar, remainder, str(at)) for at in lanes))


def _unlimited(gang: Gang, op: Op, number: int) -> None:
    """The operand that rises or falls, if all its units keep to the limit that the other is."""
    one, scalar, rising = gang.one, scalar_type(op), op.operands[number]
    first, last = _ends(gang, rising)
    falls = gang.values[rising].shape.stride < 0
    upper = op.opdef is ops.MIN
    end = first if falls is upper else last
    predicate = "icmp sle" if upper else "icmp sge"
    limits = dict.fromkeys(gang.bases(op.operands[1 - number]))
    _go_on_if(gang, *(one.compare(predicate, scalar, end, limit) for limit in limits))
    gang.values[op] = gang.values[rising]
    if op.name:
        gang.module.notes.value(op, gang.analysis.shape(op))


def _ends(gang: Gang, op: Op) -> tuple[str, str]:
    """The first and the last unit's value, once shown to be so: parts follow each other, and none
    wraps around.
    """
    one, layout, scalar = gang.one, gang.layout, scalar_type(op)
    stride, bases = gang.values[op].shape.stride, gang.bases(op)
    first = bases[0]
    last = one.instruction("add", scalar, first, str((layout.width - 1) * stride))
    tests = [one.compare("icmp sge" if stride > 0 else "icmp sle", scalar, last, first)]
    for number, base in enumerate(bases[1:], 1):
        expected = one.instruction("add", scalar, first, str(number * layout.lanes * stride))
        tests.append(one.compare("icmp eq", scalar, base, expected))
    _go_on_if(gang, *tests)
    return first, last


def _go_on_if(gang: Gang, *tests: str) -> None:
    """Start again in the usual version unless all hold."""
    w, total = gang.w, tests[0]
    for test in tests[1:]:
        total = w.value(f"and i1 {total}, {test}", "straight")
    (on,) = gang.fresh_labels("straight")
    w.branch(total, on, gang.retreat, likely=True)
    gang.begin(on)
