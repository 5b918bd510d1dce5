"""A launch whose very arguments come again: nothing about them need be looked up.

Devices with memory of their own are often given the same buffers over and over, and what their
launches cost is mostly the looking up.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_not
from typing import Any

from numpy import ndarray

from cubepy.launcher.resolver import Record
from cubepy.runtime import Grid, MemoryLaunch, switches

__all__ = ["Again", "again_of"]


class Again:
    """The arguments of a launch that went well, and the short way to do it once more."""

    __slots__ = ("_arguments", "_grid", "_launch", "_unchanged")

    def __init__(self, record: Record, launch: MemoryLaunch, grid: Grid, arguments: Any) -> None:
        self._arguments = arguments
        self._grid = grid
        self._launch = launch
        self._unchanged = record.watched.unchanged

    def launched(self, arguments: Sequence[Any]) -> bool:
        """Launch if these are the very same arguments; whether they were."""
        known = self._arguments
        if len(arguments) != len(known) or any(map(is_not, arguments, known)):
            return False
        if switches.closed or not self._unchanged():
            return False
        self._launch(self._grid, known)
        return True


def again_of(record: Record, grid: Grid, arguments: Sequence[Any]) -> Again | None:
    """For a launch that may come again just so; None where that would be no shorter."""
    launch = record.quick
    if not isinstance(launch, MemoryLaunch) or ndarray in map(type, arguments):
        return None
    return Again(record, launch, grid, tuple(arguments))
