"""Control flow that constants decide, as rules: arms never taken, loops without trips, blocks that
nothing leaves early; and `length` of memory whose shape is known.
"""

from __future__ import annotations

from collections.abc import Mapping

from cubepy.ir import (
    INDEX,
    Op,
    OpDef,
    PrivateType,
    Region,
    Rewriter,
    Rule,
    SharedType,
    ops,
    rebuilt,
)
from cubepy.passes.fold_constants import constant

__all__ = ["CONTROL_RULES", "has_exit"]

EMPTY = Region()


def has_exit(region: Region, *exits: OpDef) -> bool:
    """Whether an exit of the owner of this region stands in it, at any depth."""
    owners = (ops.BLOCK,) if ops.LEAVE in exits else (ops.FOR, ops.WHILE)
    for op in region.ops:
        if op.opdef in exits:
            return True
        if op.opdef not in owners and any(has_exit(part, *exits) for part in op.regions):
            return True
    return False


def _if(op: Op, rewriter: Rewriter) -> Op | None:
    condition = op.operands[0]
    value = constant(condition)
    if value is not None:
        rewriter.splice(op.regions[0 if value else 1].ops)
        return None
    if condition.opdef is ops.BIT_NOT and op.regions[1].ops:
        swapped = rebuilt(op, operands=condition.operands, regions=op.regions[::-1])
        return rewriter.place(swapped)
    return op


def _for(op: Op, rewriter: Rewriter) -> Op | None:
    bounds = [constant(operand) for operand in op.operands]
    if not all(isinstance(bound, int) for bound in bounds):
        return op
    start, stop, step = bounds
    assert isinstance(start, int)
    assert isinstance(stop, int)
    assert isinstance(step, int)
    if not step:
        return op
    trips = range(start, stop, step)  # may be longer than `len` can say
    if not trips:
        return None
    if not trips[1:] and not has_exit(op.regions[0], ops.BREAK, ops.CONTINUE):
        rewriter.values[op.regions[0].params[0]] = op.operands[0]
        rewriter.splice(op.regions[0].ops)
        return None
    return op


def _while(op: Op, rewriter: Rewriter) -> Op | None:
    condition = op.regions[0].ops
    if constant(condition[-1].operands[0]) == 0:
        rewriter.splice(condition[:-1])
        return None
    return op


def _block(op: Op, rewriter: Rewriter) -> Op | None:
    if has_exit(op.regions[0], ops.LEAVE):
        return op
    rewriter.splice(op.regions[0].ops)
    return None


def _length(op: Op, rewriter: Rewriter) -> Op:
    memory, axis = op.operands[0].type, op.attrs["axis"]
    if isinstance(memory, SharedType | PrivateType) and isinstance(axis, int):
        return rewriter.const(INDEX, memory.shape[axis], op)
    return op


CONTROL_RULES: Mapping[OpDef, Rule] = {
    ops.IF: _if,
    ops.FOR: _for,
    ops.WHILE: _while,
    ops.BLOCK: _block,
    ops.LENGTH: _length,
}
