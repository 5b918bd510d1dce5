"""A launch like the one before: what it resolved to need not be looked up again.

Devices with memory of their own are often given the same buffers over and over, and what their
launches cost is mostly the looking up. NumPy arrays are looked at each time, by a pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy import ndarray

from cubepy.frontend import ABSENT
from cubepy.launcher.resolver import Record
from cubepy.runtime import (
    Grid,
    Known,
    Launched,
    MemoryLaunch,
    QuickLaunch,
    observers,
    pattern_of,
    switches,
    this_thread,
)

__all__ = ["again_of"]


def again_of(
    record: Record,
    grid: Grid,
    arguments: Sequence[Any],
    comptime: Sequence[bool],
    epoch: int | None = None,
    *,
    taught: bool = False,
) -> Launched | None:
    """The short way for launches like one that went well; None where that would be no shorter.

    `epoch` is that of the switches if the launch is on the default device. `taught`: machine code
    takes such calls unless it is closed, and is to hear of the others.
    """
    launch = record.quick
    if isinstance(launch, QuickLaunch):
        if record.foreign or (taught and not switches.closed):
            return None
        fits = _condition(record, epoch, taught=taught)
        return pattern_of(launch, grid, arguments, comptime, fits)
    if not isinstance(launch, MemoryLaunch) or ndarray in map(type, arguments):
        return None
    # no machine code takes calls with memories of a device's own
    return _with_memories(launch, grid, Known(arguments), _condition(record, epoch, taught=False))


def _condition(record: Record, epoch: int | None, *, taught: bool) -> Callable[[], bool]:
    """Whether the short way may be taken now, whatever the arguments are."""
    watched = record.watched
    captured = [(names.get, name, value) for names, name, value in watched.names]
    rest_unchanged = watched.rest_unchanged if watched.cells or watched.parts else None

    def fits() -> bool:
        if switches.closed:
            if observers or this_thread.recording is not None:
                return False
        elif taught:
            return False
        if epoch is not None and epoch != switches.epoch:
            return False
        for find, name, value in captured:
            if find(name, ABSENT) is not value:
                return False
        return rest_unchanged is None or rest_unchanged()

    return fits


def _with_memories(
    launch: MemoryLaunch, grid: Grid, known: Known, fits: Callable[[], bool]
) -> Launched:
    """Launches with the very arguments it knows."""

    def launched(arguments: Sequence[Any]) -> bool:
        if not known.are(arguments) or not fits():
            return False
        launch(grid, arguments)
        return True

    return launched
