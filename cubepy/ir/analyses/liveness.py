"""Which local slots a unit may still read, at the points where units that sat out come back.

The CPU emitter blends an assignment only if a unit that did not take part can see the slot later.
Units come back after an `if` (or in its other arm), after a loop they left, at the next trip after
`continue`, and after a `block`. :func:`slot_liveness` gives the live slots at exactly these points,
by one backward walk with a small fixpoint per loop. Sets of slots are integers, one bit a slot.
"""

from __future__ import annotations

from cubepy.ir import ops
from cubepy.ir.nodes import Op, Region, walk
from cubepy.records import dataclass, field

__all__ = ["SlotLiveness", "slot_liveness"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotLiveness:
    """Bits by slot; live slots after a control op, at the head of a loop, on entry to an else
    arm.
    """

    bit: dict[Op, int] = field(default_factory=dict)
    after: dict[Op, int] = field(default_factory=dict)
    head: dict[Op, int] = field(default_factory=dict)
    other_arm: dict[Op, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Targets:
    """Live slots where each kind of exit goes."""

    on_break: int = 0
    on_continue: int = 0
    on_leave: int = 0


def slot_liveness(body: Region) -> SlotLiveness:
    """Liveness of every slot of a kernel's body (helpers must be inlined)."""
    result = SlotLiveness()
    for op in walk(body):
        if op.opdef is ops.LOCAL:
            result.bit[op] = 1 << len(result.bit)
    _region(body, 0, _Targets(), result)
    return result


def _region(region: Region, live: int, targets: _Targets, result: SlotLiveness) -> int:
    """Live slots on entry to a region, given those after it."""
    for op in reversed(region.ops):
        live = _before(op, live, targets, result)
    return live


def _before(op: Op, live: int, targets: _Targets, result: SlotLiveness) -> int:
    row = op.opdef
    if row is ops.LOAD_LOCAL:
        return live | result.bit[op.operands[0]]
    if row is ops.STORE_LOCAL:
        return live & ~result.bit[op.operands[0]]
    if row is ops.BREAK:
        return targets.on_break
    if row is ops.CONTINUE:
        return targets.on_continue
    if row is ops.LEAVE:
        return targets.on_leave
    if row is ops.RETURN:
        return 0
    if op.regions:
        result.after[op] = live
        return _control(op, live, targets, result)
    return live


def _control(op: Op, live: int, targets: _Targets, result: SlotLiveness) -> int:
    if op.opdef is ops.IF:
        other = _region(op.regions[1], live, targets, result)
        result.other_arm[op] = other
        return other | _region(op.regions[0], live, targets, result)
    if op.opdef is ops.BLOCK:
        inside = _Targets(targets.on_break, targets.on_continue, live)
        return _region(op.regions[0], live, inside, result)
    return _loop(op, live, targets, result)


def _loop(op: Op, live: int, targets: _Targets, result: SlotLiveness) -> int:
    head = live
    while True:
        inside = _Targets(live, head, targets.on_leave)
        start = _region(op.regions[-1], head, inside, result) | live
        if op.opdef is ops.WHILE:
            start = _region(op.regions[0], start, inside, result)
        if start | head == head:
            result.head[op] = head
            return head
        head |= start
