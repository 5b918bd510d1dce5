"""Shadows of buffers: arguments that overlap share one, so that races through either are seen."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cubepy.interp.batch import Batch
from cubepy.interp.memory import Memory
from cubepy.interp.races import LaunchShadow

__all__ = ["share_shadows"]


def _span(memory: Memory) -> tuple[int, int]:
    """First and last byte address (exclusive) of a buffer with elements."""
    reach = [(extent - 1) * step for extent, step in zip(memory.shape, memory.steps, strict=True)]
    low = memory.base + sum(min(0, distance) for distance in reach)
    return low, memory.base + sum(max(0, distance) for distance in reach) + memory.element.size


def share_shadows(buffers: Sequence[tuple[Memory, bool]], batch: Batch) -> None:
    """Give buffers a shadow; groups of overlapping ones that nobody writes need none."""
    rest = sorted(
        ((*_span(memory), memory, written) for memory, written in buffers if 0 not in memory.shape),
        key=lambda entry: entry[:2],
    )
    while rest:
        low, stop, memory, written = rest.pop(0)
        group = [memory]
        while rest and rest[0][0] < stop:
            _, other_stop, memory, other_written = rest.pop(0)
            group.append(memory)
            stop, written = max(stop, other_stop), written or other_written
        if written:
            _share(group, low, stop, batch)


def _share(group: list[Memory], low: int, stop: int, batch: Batch) -> None:
    """One shadow, with cells as small as the offsets between elements ask for."""
    cell = math.gcd(*(memory.element.size for memory in group))
    cell = math.gcd(cell, *(memory.base - low for memory in group))
    shadow = LaunchShadow((stop - low) // cell, batch, storage=True)
    for memory in group:
        memory.shadow = shadow
        memory.base = (memory.base - low) // cell
        memory.steps = tuple(step // cell for step in memory.steps)
        memory.width = memory.element.size // cell
