"""Before::

    kernel @k(%n: index, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %0: index = const 0
      %1: index = const 1
      %2: f32 = load %y, %i [check=checked]
      %count: slot<index> = local [element=index]
      store_local %count, %0
      for %0, %n, %1 (%j: index) {
        %3: index = load_local %count
        %4: index = add %3, %j
        store_local %count, %4
      }
      %5: f32 = const 1.0
      store %y, %i, %5 [check=checked]
    }

After::

    kernel @k(%n: index, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %5: f32 = const 1.0
      store %y, %i, %5 [check=checked]
    }

What stays: effects (stores to memory, atomics, barriers, calls, exits, accesses that report, loops
that might not end), what they need, and the control flow around them. Stores to a slot or to a
private or shared array are effects only if something that stays reads it.
"""

from __future__ import annotations

from cubepy.ir import PURE, Kernel, Op, Region, Trait, falls_through, map_bodies, ops, rebuilt
from cubepy.passes.context import PassContext

__all__ = ["eliminate_dead_code"]

# Without an effect of their own: kept only for their result.
_FOR_RESULT = (
    PURE
    | frozenset(
        row for row in ops.BY_NAME.values() if row.has(Trait.PLANE) and not row.has(Trait.WRITES)
    )
    | {ops.LOAD, ops.LOAD_LOCAL, ops.LOCAL, ops.LOCAL_ARRAY, ops.SHARED}
)
_OWN_MEMORY = frozenset({ops.LOCAL, ops.LOCAL_ARRAY, ops.SHARED})
_STORES = frozenset({ops.STORE_LOCAL, ops.STORE})
_CONDITIONAL = frozenset({ops.IF, ops.FOR, ops.BLOCK})


def eliminate_dead_code(kernel: Kernel, context: PassContext) -> Kernel:
    """Remove ops that nothing needs, and what can not be reached."""
    return map_bodies(kernel, _eliminate)


def _eliminate(body: Region) -> Region:
    marking = _Marking()
    marking.region(body, None)
    marking.spread()
    return _swept(body, marking.needed)


class _Marking:
    """`needed` grows from the effects through operands, slots and enclosing control flow."""

    def __init__(self) -> None:
        self.needed: set[Op] = set()
        self._parents: dict[Op, Op | None] = {}
        self._stores: dict[Op, list[Op]] = {}  # own memory -> the stores into it
        self._work: list[Op] = []

    def region(self, region: Region, parent: Op | None) -> None:
        """Note the parent of every op, the stores into own memory, and the effects."""
        for op in region.ops:
            self._parents[op] = parent
            opdef = op.opdef
            if opdef in _STORES and op.operands[0].opdef in _OWN_MEMORY and not _reports(op):
                self._stores.setdefault(op.operands[0], []).append(op)
            elif op.regions:
                for part in op.regions:
                    self.region(part, op)
                if opdef not in _CONDITIONAL:
                    self._work.append(op)
            elif opdef not in _FOR_RESULT or _reports(op):
                self._work.append(op)

    def spread(self) -> None:
        """Mark everything that the effects need."""
        work, needed = self._work, self.needed
        while work:
            op = work.pop()
            if op in needed:
                continue
            needed.add(op)
            work += op.operands
            parent = self._parents.get(op)
            if parent is not None and parent not in needed:
                work.append(parent)
            if op.opdef in _OWN_MEMORY:
                work += self._stores.get(op, ())


def _reports(op: Op) -> bool:
    return op.attrs.get("check") == "validate"


def _swept(region: Region, needed: set[Op]) -> Region:
    made: list[Op] = []
    for op in region.ops:
        if op not in needed:
            continue
        if op.regions:
            regions = tuple([_swept(part, needed) for part in op.regions])
            if regions != op.regions:
                op = rebuilt(op, regions=regions)  # noqa: PLW2901 - the very same op, made anew
        made.append(op)
        if op.opdef is ops.IF and not any(map(falls_through, op.regions)):
            break
    return region if tuple(made) == region.ops else Region(params=region.params, ops=tuple(made))
