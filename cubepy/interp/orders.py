"""What units know of each other through atomics: acquire, release and fences, as races see it.

Every unit counts its releases, its time. What it knows is a row: for each other unit, how many of
that one's releases are behind it; an access of unit u at time t came before everything in a unit
that knows more than t of u. A release leaves the unit's row at the element, an acquire takes over
what is there; barriers make all units of a group know what any of them does. The memory model is
that of C++: relaxed updates keep what a release has left, relaxed stores do not, and fences lend
their order to the relaxed atomics around them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cubepy.interp.batch import Batch
from cubepy.interp.masks import Value
from cubepy.ir import Op, Trait, ops

__all__ = ["Orders"]

ACQUIRES = ("acquire", "acq_rel")
RELEASES = ("release", "acq_rel")
#: Elements of the table of who knows what; larger launches are not watched.
MOST_ENTRIES = 1 << 25

Place = tuple[int, int]


class Orders:
    """`whole`: units are counted over the launch, else over the one cube of the batch."""

    def __init__(self, batch: Batch, *, whole: bool) -> None:
        self._whole = whole
        count = batch.grid.cubes * batch.units if whole else batch.lanes
        self.watched = count * batch.lanes <= MOST_ENTRIES
        self.times: Value = np.zeros(count, dtype=np.int32)
        #: The times that accesses are noted with: an atomic itself belongs to the time before.
        self.shown: Value = self.times.copy()
        self._left: dict[Place, Value] = {}
        self.begin(batch)

    def begin(self, batch: Batch) -> None:
        """Go on to another batch of the launch."""
        self._base = 0 if self._whole else batch.first * batch.units
        self._first = batch.first * batch.units - self._base
        shape = (batch.lanes, self.times.size) if self.watched else (0, 0)
        self._known: Value = np.zeros(shape, dtype=np.int32)
        self._seen: Value = np.zeros(shape, dtype=np.int32)  # by relaxed loads, for a fence to take
        self._fenced: dict[int, Value] = {}

    def time_of(self, units: Value) -> Value:
        """The times of units of the launch, for their present accesses."""
        times: Value = self.shown[units - self._base]
        return times

    def ordered(self, units: Value, times: Value, now: Value) -> Value:
        """Whether accesses of `units` at `times` came before what the units `now` do."""
        if not self.watched:
            return np.ones(units.shape, dtype=np.bool_)
        lanes = now - self._base - self._first
        known = self._known[lanes, np.maximum(units - self._base, 0)]
        return np.asarray(known > times)

    # ── atomics and fences ──────────────────────────────────────────────────────────────────────

    def atomic(self, op: Op, memory: int, cells: Value, lanes: Value) -> None:
        """Units pass an atomic, one after the other; `memory` tells memories apart."""
        if not self.watched:
            return
        order = op.attrs["order"]
        for lane, cell in zip(lanes.tolist(), cells.tolist(), strict=True):
            place = (memory, cell)
            if op.opdef.has(Trait.READS):
                self._take(lane, place, acquires=order in ACQUIRES)
            if op.opdef.has(Trait.WRITES):
                self._leave(op, lane, place, releases=order in RELEASES)

    def _take(self, lane: int, place: Place, *, acquires: bool) -> None:
        left = self._left.get(place)
        if left is not None:
            rows = self._known if acquires else self._seen
            np.maximum(rows[lane], left, out=rows[lane])

    def _leave(self, op: Op, lane: int, place: Place, *, releases: bool) -> None:
        before = None if op.opdef is ops.ATOMIC_STORE else self._left.get(place)
        own = self._released(lane) if releases else self._fenced.get(lane)
        rows = [row for row in (before, own) if row is not None]
        if rows:
            self._left[place] = np.max(rows, axis=0)
        else:
            self._left.pop(place, None)

    def _released(self, lane: int) -> Value:
        """The unit's row as it hands it over; a new time begins."""
        unit = self._first + lane
        self.times[unit] += 1
        row: Value = self._known[lane].copy()
        row[unit] = self.times[unit]
        return row

    def fence(self, lanes: Value) -> None:
        """Units pass a fence: it acquires what they saw, and releases with their next atomics."""
        if not self.watched:
            return
        for lane in lanes.tolist():
            np.maximum(self._known[lane], self._seen[lane], out=self._known[lane])
            self._fenced[lane] = self._released(lane)
        self.settle()

    def settle(self) -> None:
        """An op is over: what comes now belongs to the new times."""
        self.shown[:] = self.times

    # ── barriers ────────────────────────────────────────────────────────────────────────────────

    def barrier(self, groups: Sequence[Value]) -> None:
        """The units of each group, given by their lanes, have met."""
        if not self.watched:
            return
        for lanes in groups:
            units = self._first + lanes
            self.times[units] += 1
            row = self._known[lanes].max(axis=0)
            row[units] = self.times[units]
            self._known[lanes] = row
        self.settle()
