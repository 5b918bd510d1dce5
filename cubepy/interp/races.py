"""Finds unsynchronised accesses: two units, one element, one of them writes, nothing orders them.

A :class:`LaunchShadow` keeps, for each cell of a memory, who wrote it last, and two units each that
read it and that used it atomically, chosen as far apart as possible. `sync_cube` orders the units
of a cube, `sync_plane` those of a plane, acquire and release those that know of each other
(`orders.py`); nothing else orders different cubes. Atomics do not race with
atomics. Two units that store the same value race all the same: which op meant it as harmless, no
backend can know.
"""

from __future__ import annotations

import numpy as np

from cubepy.interp.batch import Batch
from cubepy.interp.clock import RIVALS, Clock, Conflict, Shadow
from cubepy.interp.masks import Value
from cubepy.interp.orders import Orders
from cubepy.ir import Op

__all__ = ["LaunchShadow"]

UNIT, CUBE_EPOCH, PLANE_EPOCH, OP, TIME = range(5)
NEVER = -1
NOBODY, SAME_UNIT, SAME_PLANE, SAME_CUBE, OTHER_CUBE = range(5)


class LaunchShadow(Shadow):
    """For memory of any kind; `batch` tells which units are neighbours.

    `storage`: it is global memory, so barriers of the storage order it too.
    """

    def __init__(self, size: int, batch: Batch, *, storage: bool) -> None:
        self._units, self._plane_dim, self._storage = batch.units, batch.plane_dim, storage
        self._orders: Orders | None = None
        self._kept = {
            kind: [np.full((size, 5), NEVER, dtype=np.int64) for _ in range(count)]
            for kind, count in (("write", 1), ("read", 2), ("atomic", 2), ("atomic_read", 2))
        }

    def visit(self, kind: str, cells: Value, lanes: Value, op: Op, clock: Clock) -> Conflict | None:
        """See :class:`Shadow`."""
        self._orders = clock.orders
        rows = self._rows(lanes, op, clock)
        for other in RIVALS[kind]:
            for kept in self._kept[other]:
                found = self._conflict(other, kept[cells], rows)
                if found is not None:
                    return found
        if kind != "write":
            self._remember(self._kept[kind], cells, rows)
            return None
        kept = self._kept["write"][0]
        kept[cells] = rows  # of several units the last stays, and the others see it is not they
        return self._conflict("write", kept[cells], rows)

    def _rows(self, lanes: Value, op: Op, clock: Clock) -> Value:
        """One row for each access: what is kept of it."""
        rows = np.zeros((lanes.size, 5), dtype=np.int64)
        rows[:, UNIT] = clock.units(lanes)
        epochs = clock.cubes + clock.storage if self._storage else clock.cubes
        rows[:, CUBE_EPOCH] = epochs[lanes // self._units]
        if clock.orders is not None:
            rows[:, TIME] = clock.orders.time_of(rows[:, UNIT])
        rows[:, PLANE_EPOCH] = clock.planes[clock.batch.plane_of_lane[lanes]]
        rows[:, OP] = clock.number(op)
        return rows

    def _distance(self, a: Value, b: Value) -> Value:
        """How far apart the units of rows `a` and those of `b`, which act now, are.

        Nobody is who a barrier, or what the units know of each other, has ordered.
        """
        first, second = a[:, UNIT], b[:, UNIT]
        cube_a, cube_b = first // self._units, second // self._units
        plane_a = (first - cube_a * self._units) // self._plane_dim
        plane_b = (second - cube_b * self._units) // self._plane_dim
        same_epoch = a[:, PLANE_EPOCH] == b[:, PLANE_EPOCH]
        near = np.where(plane_a == plane_b, np.where(same_epoch, SAME_PLANE, NOBODY), SAME_CUBE)
        near = np.where(a[:, CUBE_EPOCH] == b[:, CUBE_EPOCH], near, NOBODY)
        far = np.where(cube_a == cube_b, near, OTHER_CUBE)
        if self._orders is not None:
            far = np.where(self._orders.ordered(first, a[:, TIME], second), NOBODY, far)
        return np.where(first == NEVER, NOBODY, np.where(first == second, SAME_UNIT, far))

    def _conflict(self, kind: str, seen: Value, rows: Value) -> Conflict | None:
        races = self._distance(seen, rows) > SAME_UNIT
        if not races.any():
            return None
        place = int(np.argmax(races))
        return Conflict(
            place=place, kind=kind, unit=int(seen[place, UNIT]), op=int(seen[place, OP])
        )

    def _remember(self, kept: list[Value], cells: Value, rows: Value) -> None:
        """The newest unit goes first; second stays whoever is farther away from it."""
        first, second = kept
        before, other = first[cells], second[cells]
        displaced = self._distance(before, rows)
        moves = (displaced > SAME_UNIT) & (displaced >= self._distance(other, rows))
        second[cells[moves]] = before[moves]
        first[cells] = rows
        apart = self._distance(first[cells], rows)
        for distance in (SAME_PLANE, SAME_CUBE, OTHER_CUBE):  # the farthest is stored last
            lost = apart == distance
            if lost.any():
                where = cells[lost]
                nearer = self._distance(second[where], first[where]) <= distance
                second[where[nearer]] = rows[lost][nearer]
