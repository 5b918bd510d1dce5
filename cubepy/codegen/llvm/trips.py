"""How many trips a `for` makes, as an unsigned number of the type's width."""

from __future__ import annotations

from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.lanes import Lanes
from cubepy.ir import Op, Scalar

__all__ = ["lane_trips", "uniform_trips"]


def uniform_trips(gang: Gang, op: Op, scalar: Scalar) -> str:
    """The trips of a loop whose range all units share."""
    start, stop, step = (gang.scalar(operand) for operand in op.operands)
    return _count_trips(gang.one, scalar, start, stop, step)


def lane_trips(gang: Gang, op: Op, scalar: Scalar) -> tuple[str, ...]:
    """The trips of each lane, one vector a part."""
    operands = [gang.vectors(operand) for operand in op.operands]
    return tuple(_count_trips(gang.vec, scalar, *each) for each in zip(*operands, strict=True))


def _count_trips(lanes: Lanes, scalar: Scalar, start: str, stop: str, step: str) -> str:
    """Trips of range(start, stop, step) as an unsigned number of the type's width; 0 for step 0.

    With distance = |stop - start| > 0: (distance - 1) / |step| + 1, all unsigned, so nothing
    overflows.
    """
    order = "s" if scalar.is_signed else "u"
    zero, one = lanes.const(scalar, 0), lanes.const(scalar, 1)
    up_distance = lanes.instruction("sub", scalar, stop, start)
    up_runs = lanes.compare(f"icmp {order}lt", scalar, start, stop)
    text = step.rpartition(" ")[2].rstrip(")")
    if text.isdigit() and int(text) > 0:  # a positive constant
        return _trips(lanes, scalar, up_distance, up_runs, step)
    down_distance = lanes.instruction("sub", scalar, start, stop)
    down_runs = lanes.compare(f"icmp {order}gt", scalar, start, stop)
    down = lanes.compare(f"icmp {order}lt", scalar, step, zero)
    negated = lanes.instruction("sub", scalar, zero, step)
    distance = lanes.select(down, scalar, down_distance, up_distance)
    runs = lanes.w.value(
        f"select {lanes.mask} {down}, {lanes.mask} {down_runs}, {lanes.mask} {up_runs}"
    )
    size = lanes.select(down, scalar, negated, step)
    still = lanes.compare("icmp eq", scalar, size, zero)
    size = lanes.select(still, scalar, one, size)
    count = _trips(lanes, scalar, distance, runs, size)
    return lanes.select(still, scalar, zero, count)


def _trips(lanes: Lanes, scalar: Scalar, distance: str, runs: str, size: str) -> str:
    zero, one = lanes.const(scalar, 0), lanes.const(scalar, 1)
    if size == one:
        return lanes.select(runs, scalar, distance, zero)
    last = lanes.instruction("sub", scalar, distance, one)
    count = lanes.instruction("add", scalar, lanes.instruction("udiv", scalar, last, size), one)
    return lanes.select(runs, scalar, count, zero)
