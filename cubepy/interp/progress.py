"""Tells a loop that only waits from one that works.

The state of a machine decides all that follows; two trips that begin in the same state are the
beginning of infinitely many. Comparing costs a hash of all memory, so it is done at trip 256, 512,
1024 … and the one after.
"""

from __future__ import annotations

import hashlib

import numpy as np

from cubepy.errors import Diagnostic, NoProgressError
from cubepy.interp.masks import Mask, Value, first_lane, minus
from cubepy.interp.memory import Memory, place_of
from cubepy.interp.state import Slot, State
from cubepy.ir import Op, Trait, ops, walk
from cubepy.records import dataclass

__all__ = ["Progress"]

FIRST_LOOK = 256
WAITING = (
    "nothing promises that a unit runs while another waits for it; use a barrier, or split the "
    "kernel in two"
)


def _reads_memory(op: Op) -> bool:
    return op.opdef.has(Trait.READS) and any(hasattr(each.type, "rank") for each in op.operands)


def _fingerprint(state: State, mask: Mask) -> bytes:
    digest = hashlib.blake2b(np.asarray(mask).tobytes())
    for value in state.values.values():
        held: Value | None = None
        if isinstance(value, Slot):
            held = value.value
        elif isinstance(value, Memory) and value.data.flags.writeable:
            held = value.data
        if held is not None:
            digest.update(repr(held.shape).encode())
            digest.update(np.ascontiguousarray(held).tobytes())
    return digest.digest()


@dataclass(slots=True, kw_only=True)
class Progress:
    """Watches one run of the loop `loop`; `trip` is called at the start of each trip."""

    state: State
    loop: Op
    trips: int = 0
    seen: bytes = b""

    def trip(self, mask: Mask) -> None:
        """Raises NoProgressError if this trip begins as the one before did."""
        self.trips += 1
        if self.trips < FIRST_LOOK:
            return
        if self.seen and self.seen == _fingerprint(self.state, mask):
            raise NoProgressError(self._report(mask))
        power_of_two = self.trips & (self.trips - 1) == 0
        self.seen = _fingerprint(self.state, mask) if power_of_two else b""

    def _waits(self) -> bool:
        """Whether the loop reads memory to find its end, which another unit might write."""
        condition, body = self.loop.regions[0], self.loop.regions[-1]
        leaves = any(op.opdef in (ops.BREAK, ops.LEAVE, ops.RETURN) for op in walk(body))
        return any(_reads_memory(op) for op in walk(body if leaves else condition))

    def _report(self, mask: Mask) -> Diagnostic:
        batch = self.state.batch
        asked = batch.inside & mask
        only = asked if np.any(asked) else mask  # else those that fill the last cube alone wait
        count = batch.lanes if only is True else int(np.count_nonzero(only))
        waiting = batch.name(first_lane(only))
        if count > 1:
            more = f"{count - 1} other unit{'s' * (count > 2)}"
            waiting = f"{waiting} and {more} go round this loop"
        else:
            waiting = f"{waiting} goes round this loop"
        rest = minus(batch.inside, mask)
        others = "" if rest is False else f"; {batch.name(first_lane(rest))} does not run meanwhile"
        return Diagnostic(
            message=f"no progress: {waiting}, and nothing changes any more{others}",
            loc=place_of(self.loop, self.state.calls),
            help=WAITING
            if self._waits()
            else "nothing in the loop changes what its condition reads: was the step forgotten?",
        )
