"""A launch like the one before: what it resolved to need not be looked up again.

Devices with memory of their own are often given the same buffers over and over, and what their
launches cost is mostly the looking up. NumPy arrays are looked at each time, by a pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_not
from typing import Any

from numpy import ndarray

from cubepy.launcher.resolver import Record
from cubepy.runtime import (
    Grid,
    MemoryLaunch,
    QuickLaunch,
    is_observed,
    pattern_of,
    recording_here,
    switches,
)

__all__ = ["Again", "again_of"]


class Again:
    """A launch that went well, and the short way to do it once more.

    `epoch` is that of the switches if the launch is on the default device. `taught`: machine code
    takes such calls unless it is closed, and is to hear of the others.
    """

    __slots__ = ("_epoch", "_launched", "_taught", "_unchanged")

    def __init__(
        self,
        record: Record,
        launched: Callable[[Sequence[Any]], bool],
        epoch: int | None,
        *,
        taught: bool = False,
    ) -> None:
        self._launched = launched
        self._epoch = epoch
        self._taught = taught
        self._unchanged = record.watched.unchanged

    def launched(self, arguments: Sequence[Any]) -> bool:
        """Launch if these arguments are like those; whether they were."""
        if switches.closed:
            if recording_here() is not None or is_observed():
                return False
        elif self._taught:
            return False
        if self._epoch is not None and self._epoch != switches.epoch:
            return False
        return self._unchanged() and self._launched(arguments)


def again_of(
    record: Record,
    grid: Grid,
    arguments: Sequence[Any],
    comptime: Sequence[bool],
    epoch: int | None = None,
    *,
    taught: bool = False,
) -> Again | None:
    """For a launch that may come again just so; None where that would be no shorter."""
    launch = record.quick
    if isinstance(launch, QuickLaunch):
        if record.foreign or (taught and not switches.closed):
            return None
        pattern = pattern_of(launch, grid, arguments, comptime)
        if pattern is None:
            return None
        return Again(record, pattern.launched, epoch, taught=taught)
    if not isinstance(launch, MemoryLaunch) or ndarray in map(type, arguments):
        return None
    return Again(record, _with_memories(launch, grid, tuple(arguments)), epoch)


def _with_memories(
    launch: MemoryLaunch, grid: Grid, known: tuple[Any, ...]
) -> Callable[[Sequence[Any]], bool]:
    """Launches with the very arguments it knows."""

    def launched(arguments: Sequence[Any]) -> bool:
        if len(arguments) != len(known) or any(map(is_not, arguments, known)):
            return False
        launch(grid, known)
        return True

    return launched
