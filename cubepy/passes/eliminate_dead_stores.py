"""Before::

    kernel @k(%a: f32, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %v: slot<f32> = local [element=f32]
      store_local %v, %a
      %0: f32 = const 0.0
      %1: bool = lt %a, %0
      if %1 {
        store_local %v, %0
      } else {
        store_local %v, %a
      }
      %2: f32 = load_local %v
      store %y, %i, %2 [check=checked]
    }

After::

    kernel @k(%a: f32, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %v: slot<f32> = local [element=f32]
      %0: f32 = const 0.0
      %1: bool = lt %a, %0
      if %1 {
        store_local %v, %0
      } else {
        store_local %v, %a
      }
      %2: f32 = load_local %v
      store %y, %i, %2 [check=checked]
    }

A store to a slot goes when no load can see it. A loop is taken to read, at the end of its body, all
that it loads anywhere: exact enough once `split_locals` has run, and one walk for any nesting.
"""

from __future__ import annotations

from cubepy.ir import Kernel, Op, Region, map_bodies, ops, rebuilt
from cubepy.passes.context import PassContext

__all__ = ["eliminate_dead_stores"]

NOTHING: frozenset[Op] = frozenset()


def eliminate_dead_stores(kernel: Kernel, context: PassContext) -> Kernel:
    """Remove stores to slots that are overwritten or left before they are read."""
    return map_bodies(kernel, _eliminate)


def _eliminate(body: Region) -> Region:
    loaded: dict[Region, frozenset[Op]] = {}
    if not _loaded_slots(body, loaded):
        return body
    return _Liveness(loaded).region(body, set())


def _loaded_slots(region: Region, found: dict[Region, frozenset[Op]]) -> bool:
    """The slots that a region loads, itself or inside; whether it uses any slot."""
    slots: set[Op] = set()
    used = False
    for op in region.ops:
        if op.opdef is ops.LOAD_LOCAL:
            slots.add(op.operands[0])
        elif op.opdef is ops.STORE_LOCAL:
            used = True
        for part in op.regions:
            used = _loaded_slots(part, found) or used
            slots |= found[part]
    found[region] = frozenset(slots) if slots else NOTHING
    return used or bool(slots)


class _Liveness:
    """One walk backwards; the lists hold what is live where a `break`, `continue`, `leave` goes."""

    def __init__(self, loaded: dict[Region, frozenset[Op]]) -> None:
        self._loaded = loaded
        self._breaks: list[set[Op]] = []
        self._continues: list[set[Op]] = []
        self._leaves: list[set[Op]] = []

    def region(self, region: Region, live: set[Op]) -> Region:
        """The region without dead stores; `live` is brought from its end to its start."""
        made: list[Op] = []
        for op in reversed(region.ops):
            opdef = op.opdef
            if opdef is ops.LOAD_LOCAL:
                live.add(op.operands[0])
            elif opdef is ops.STORE_LOCAL:
                if op.operands[0] not in live:
                    continue
                live.discard(op.operands[0])
            elif op.regions:
                made.append(self._control(op, live))
                continue
            elif opdef in _GOES_TO:
                self._exit(op, live)
            made.append(op)
        made.reverse()
        return (
            region if tuple(made) == region.ops else Region(params=region.params, ops=tuple(made))
        )

    def _exit(self, op: Op, live: set[Op]) -> None:
        live.clear()
        if op.opdef is ops.BREAK:
            live |= self._breaks[-1]
        elif op.opdef is ops.CONTINUE:
            live |= self._continues[-1]
        elif op.opdef is ops.LEAVE:
            live |= self._leaves[-1]

    def _control(self, op: Op, live: set[Op]) -> Op:
        regions: tuple[Region, ...]
        if op.opdef is ops.IF:
            other = set(live)
            regions = (self.region(op.regions[0], live), self.region(op.regions[1], other))
            live |= other
        elif op.opdef is ops.BLOCK:
            self._leaves.append(set(live))
            regions = (self.region(op.regions[0], live),)
            self._leaves.pop()
        else:
            regions = self._loop(op, live)
        return op if regions == op.regions else rebuilt(op, regions=regions)

    def _loop(self, op: Op, live: set[Op]) -> tuple[Region, ...]:
        after = set(live)
        for part in op.regions:
            live |= self._loaded[part]
        head = set(live)  # live wherever the loop may go on or end
        self._breaks.append(after)
        self._continues.append(head)
        regions = [self.region(op.regions[-1], set(head))]
        if op.opdef is ops.WHILE:
            regions.insert(0, self.region(op.regions[0], set(head)))
        self._breaks.pop()
        self._continues.pop()
        return tuple(regions)


_GOES_TO = frozenset({ops.BREAK, ops.CONTINUE, ops.LEAVE, ops.RETURN})
