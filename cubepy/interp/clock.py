"""Time as races see it: how many barriers each cube and each plane of a batch has passed.

Barriers that order only global memory count as `storage`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from cubepy.interp.batch import Batch
from cubepy.interp.masks import Value
from cubepy.interp.orders import Orders
from cubepy.ir import Op
from cubepy.records import dataclass, field

__all__ = ["Clock", "Conflict", "Shadow"]


@dataclass(slots=True, kw_only=True)
class Clock:
    """Counts barriers from 0 on; numbers ops, and units over the whole launch."""

    batch: Batch
    numbers: dict[Op, int]
    orders: Orders | None = None
    cubes: Value = field(init=False)
    storage: Value = field(init=False)
    planes: Value = field(init=False)

    def __post_init__(self) -> None:
        self.cubes = np.zeros(self.batch.count, dtype=np.int64)
        self.storage = self.cubes.copy()
        self.planes = np.zeros(self.batch.count * self.batch.planes, dtype=np.int64)

    def units(self, lanes: Value) -> Value:
        """The numbers of units in the launch, cube after cube."""
        return self.batch.first * self.batch.units + lanes

    def number(self, op: Op) -> int:
        """The number of an op."""
        return self.numbers.setdefault(op, len(self.numbers))

    def op(self, number: int) -> Op:
        """The op that got this number."""
        return next(op for op, given in self.numbers.items() if given == number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Access `place` of a visit races with what unit `unit` did before in op number `op`."""

    place: int
    kind: str  # what the other did: "read", "write", "atomic" (an update) or "atomic_read"
    unit: int
    op: int


# what an access of one kind races with
RIVALS = {
    "read": ("write", "atomic"),
    "atomic": ("write", "read"),
    "atomic_read": ("write",),
    "write": ("write", "read", "atomic", "atomic_read"),
}


class Shadow(ABC):
    """The last accesses to each cell of a memory."""

    @abstractmethod
    def visit(self, kind: str, cells: Value, lanes: Value, op: Op, clock: Clock) -> Conflict | None:
        """Note that units access cells; the first race that this is part of, if any.

        `kind` is one of RIVALS; unit `lanes[k]` of the batch accesses `cells[k]`.
        """
