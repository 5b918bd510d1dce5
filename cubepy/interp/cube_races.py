"""The quick way to find races: in shared memory of kernels that know no barrier but `sync_cube`.

Only units of one cube meet here, and a barrier orders all of them, so that of the accesses since
the last one any two units stand for all. An access is kept as one number, the key: the count of
barriers in its high bits, the unit in its low ones. A key below the present count is forgotten.
"""

from __future__ import annotations

import numpy as np

from cubepy.interp.clock import RIVALS, Clock, Conflict, Shadow
from cubepy.interp.masks import Value
from cubepy.ir import Op

__all__ = ["CubeShadow"]

UNIT_BITS = 40


class CubeShadow(Shadow):
    """For memory of cubes, cell after cell, cube after cube."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._keys: dict[str, list[Value]] = {}
        self._ops: dict[str, list[Value]] = {}

    def visit(self, kind: str, cells: Value, lanes: Value, op: Op, clock: Clock) -> Conflict | None:
        """See :class:`Shadow`."""
        count = clock.cubes
        if (count == count[0]).all():
            start: Value = np.asarray((count[0] + 1) << UNIT_BITS)
        else:
            start = (count[clock.batch.cube_of_lane[lanes]] + 1) << UNIT_BITS
        keys = start + clock.units(lanes)
        for other in RIVALS[kind]:
            for place, kept in enumerate(self._keys.get(other, ())):
                found = self._conflict(other, place, kept[cells], cells, start, keys)
                if found is not None:
                    return found
        if kind not in self._keys:
            slots = range(1 if kind == "write" else 2)
            self._keys[kind] = [np.zeros(self._size, dtype=np.int64) for _ in slots]
            self._ops[kind] = [np.zeros(self._size, dtype=np.int32) for _ in slots]
        self._remember(kind, cells, start, keys, clock.number(op))
        if kind != "write":
            return None
        # of several units the last stays, and the others see it is not they
        return self._conflict("write", 0, self._keys["write"][0][cells], cells, start, keys)

    def _conflict(
        self, kind: str, place: int, seen: Value, cells: Value, start: Value, keys: Value
    ) -> Conflict | None:
        races = (seen >= start) & (seen != keys)
        if not races.any():
            return None
        number = int(np.argmax(races))
        unit = int(seen[number]) & ((1 << UNIT_BITS) - 1)
        op = int(self._ops[kind][place][cells[number]])
        return Conflict(place=number, kind=kind, unit=unit, op=op)

    def _remember(self, kind: str, cells: Value, start: Value, keys: Value, op: int) -> None:
        kept, ops = self._keys[kind], self._ops[kind]
        if kind != "write":
            before = kept[0][cells]
            moves = (before >= start) & (before != keys)
            if moves.any():
                where = cells[moves]
                kept[1][where], ops[1][where] = before[moves], ops[0][where]
        kept[0][cells], ops[0][cells] = keys, op
        if kind != "write":
            lost = kept[0][cells] != keys
            if lost.any():
                kept[1][cells[lost]], ops[1][cells[lost]] = keys[lost], op
