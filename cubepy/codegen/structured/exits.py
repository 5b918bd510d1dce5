"""Ways out of nested constructs that C-like languages do not have.

`leave` ends a block from inside a loop, `break` and `continue` reach a loop from inside a block:
they cross a construct. Such an exit notes in a variable which way it goes and breaks; what it
crossed is followed by a look at the variable.
"""

from __future__ import annotations

from cubepy.ir import Op, OpDef, Region, ops

__all__ = ["EXITS", "crossing_exits", "reaches"]

#: The number of each exit in such a variable.
EXITS = {ops.BREAK: 1, ops.CONTINUE: 2, ops.LEAVE: 3}
_LOOPS = (ops.FOR, ops.WHILE)


def reaches(exit_row: OpDef, construct: OpDef) -> bool:
    """Whether an exit is meant for a construct of this kind."""
    return construct is ops.BLOCK if exit_row is ops.LEAVE else construct in _LOOPS


def crossing_exits(op: Op) -> frozenset[OpDef]:
    """The exits inside a loop or block that go on beyond it."""
    return frozenset(row for row in _exits(op.regions) if not reaches(row, op.opdef))


def _exits(regions: tuple[Region, ...]) -> set[OpDef]:
    found: set[OpDef] = set()
    for region in regions:
        for op in region.ops:
            if op.opdef in EXITS:
                found.add(op.opdef)
            elif op.opdef in (*_LOOPS, ops.BLOCK):
                found |= crossing_exits(op)
            elif op.regions:
                found |= _exits(op.regions)
    return found
