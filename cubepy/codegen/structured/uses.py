"""How often each value of a function is used, and what control ops use and change."""

from __future__ import annotations

from cubepy.ir import Op, Region, ops, walk

__all__ = ["stored_slots", "use_counts", "used_in_loops", "used_inside"]


def use_counts(root: Region) -> dict[Op, int]:
    """Uses of each op in a region and all inside it."""
    counts: dict[Op, int] = {}
    for op in walk(root):
        for operand in op.operands:
            counts[operand] = counts.get(operand, 0) + 1
    return counts


def used_inside(op: Op) -> set[Op]:
    """What the regions of a control op use."""
    return {
        operand for region in op.regions for inner in walk(region) for operand in inner.operands
    }


def used_in_loops(root: Region) -> set[Op]:
    """What the loops of a region use, the bounds of those inside others included."""
    loops = (op for op in walk(root) if op.opdef in (ops.FOR, ops.WHILE))
    return {used for loop in loops for used in (*used_inside(loop), *loop.operands)}


def stored_slots(op: Op) -> set[Op]:
    """The variables that the regions of a control op assign to."""
    return {
        inner.operands[0]
        for region in op.regions
        for inner in walk(region)
        if inner.opdef is ops.STORE_LOCAL
    }
