"""Before::

    kernel @k(%a: f32, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %v: slot<f32> = local [element=f32]
      store_local %v, %a
      %0: f32 = load_local %v
      %1: f32 = const 0.0
      %2: bool = lt %0, %1
      if %2 {
        %3: f32 = load_local %v
        %4: f32 = neg %3
        store_local %v, %4
      }
      %5: f32 = load_local %v
      store %y, %i, %5 [check=checked]
    }

After::

    kernel @k(%a: f32, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %v: slot<f32> = local [element=f32]
      store_local %v, %a
      %1: f32 = const 0.0
      %2: bool = lt %a, %1
      if %2 {
        %4: f32 = neg %a
        store_local %v, %4
      }
      %5: f32 = load_local %v
      store %y, %i, %5 [check=checked]
    }

A load gives the value last stored, or last loaded, up to control flow that may store. Stores that
this leaves without a reader go with `eliminate_dead_stores`.
"""

from __future__ import annotations

from collections.abc import Iterable

from cubepy.ir import Kernel, Op, Region, falls_through, map_bodies, ops, rebuilt
from cubepy.passes.context import PassContext

__all__ = ["forward_locals"]

Known = dict[Op, Op]  # slot -> the value it holds, an op that is visible here
NOTHING: frozenset[Op] = frozenset()


def forward_locals(kernel: Kernel, context: PassContext) -> Kernel:
    """Replace loads of slots by the values they are known to hold."""
    return map_bodies(kernel, _forward)


def _forward(body: Region) -> Region:
    stored: dict[Region, frozenset[Op]] = {}
    if not _stored_slots(body, stored):
        return body
    return _Forwarding(stored).region(body, {})


def _stored_slots(region: Region, found: dict[Region, frozenset[Op]]) -> frozenset[Op]:
    """The slots that a region stores to, itself or inside; for every region."""
    slots: set[Op] = set()
    for op in region.ops:
        if op.opdef is ops.STORE_LOCAL:
            slots.add(op.operands[0])
        for part in op.regions:
            slots |= _stored_slots(part, found)
    found[region] = frozenset(slots) if slots else NOTHING
    return found[region]


class _Forwarding:
    """One walk; `values` maps the loads that are gone, and changed ops, to what replaces them."""

    def __init__(self, stored: dict[Region, frozenset[Op]]) -> None:
        self._stored = stored
        self._values: dict[Op, Op] = {}

    def region(self, region: Region, known: Known) -> Region:
        """The region with loads replaced; `known` is brought up to its end."""
        values = self._values
        made: list[Op] = []
        for op in region.ops:
            current = op
            for operand in op.operands:
                if operand in values:
                    mapped = tuple([values.get(operand, operand) for operand in op.operands])
                    current = values[op] = rebuilt(op, operands=mapped)
                    break
            if op.opdef is ops.LOAD_LOCAL:
                value = known.setdefault(op.operands[0], op)
                if value is not op:
                    values[op] = value
                    continue
            elif op.opdef is ops.STORE_LOCAL:
                known[op.operands[0]] = current.operands[1]
            elif op.regions:
                current = self._control(op, current, known)
            made.append(current)
        return (
            region if tuple(made) == region.ops else Region(params=region.params, ops=tuple(made))
        )

    def _control(self, op: Op, current: Op, known: Known) -> Op:
        """The op with its regions replaced; `known` loses what they may store."""
        loop = op.opdef not in (ops.IF, ops.BLOCK)
        if loop:
            self._forget(known, op.regions)
        regions = tuple([self.region(part, dict(known)) for part in op.regions])
        self._forget(known, op.regions if op.opdef is not ops.IF else _that_end(op.regions))
        return current if regions == op.regions else rebuilt(current, regions=regions)

    def _forget(self, known: Known, regions: Iterable[Region]) -> None:
        for region in regions:
            for slot in self._stored[region]:
                known.pop(slot, None)


def _that_end(regions: Iterable[Region]) -> list[Region]:
    """The arms after which the program goes on."""
    return [region for region in regions if falls_through(region)]
