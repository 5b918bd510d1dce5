"""Before::

    kernel @k(%a: f32, %b: f32, %y: global<f32, [1], unknown, 0>, %n: index) cube_dim(8, 1, 1) {
      %0: index = const 0
      %1: index = const 1
      for %0, %n, %1 (%i: index) {
        for %0, %n, %1 (%j: index) {
          %2: f32 = mul %a, %b
          %3: index = mul %i, %n
          %4: index = add %3, %j
          store %y, %4, %2 [check=checked]
        }
      }
    }

After::

    kernel @k(%a: f32, %b: f32, %y: global<f32, [1], unknown, 0>, %n: index) cube_dim(8, 1, 1) {
      %0: index = const 0
      %1: index = const 1
      %2: f32 = mul %a, %b
      for %0, %n, %1 (%i: index) {
        %3: index = mul %i, %n
        for %0, %n, %1 (%j: index) {
          %4: index = add %3, %j
          store %y, %4, %2 [check=checked]
        }
      }
    }

A pure op goes in front of the outermost loop that defines none of its operands. Loads never move:
a loop may have no trips. An expensive op moves only if every trip would reach it.
"""

from __future__ import annotations

from cubepy.ir import PURE, Kernel, Op, Region, Trait, map_bodies, ops, rebuilt
from cubepy.passes.context import PassContext

__all__ = ["EXPENSIVE", "hoist_loop_invariants"]

# Worth a branch: not run where the program might not have run them.
EXPENSIVE = frozenset(row for row in PURE if row.has(Trait.LIBRARY)) | {
    ops.DIV,
    ops.FLOOR_DIV,
    ops.FLOOR_MOD,
    ops.TRUNC_DIV,
    ops.TRUNC_REM,
    ops.FMOD,
    ops.SQRT,
    ops.POW_INTEGER,
}
_LOOPS = frozenset({ops.FOR, ops.WHILE})


def hoist_loop_invariants(kernel: Kernel, context: PassContext) -> Kernel:
    """Move what a loop computes anew in every trip in front of it."""
    return map_bodies(kernel, _hoist)


def _hoist(body: Region) -> Region:
    if not any(op.regions for op in body.ops):
        return body
    return _Hoisting().region(body, certain=0)


class _Hoisting:
    """One walk. A value's level is the number of loops it must stay inside of.

    `_ahead[n]` collects what goes in front of the present loop of level n + 1.
    """

    def __init__(self) -> None:
        self._levels: dict[Op, int] = {}
        self._ahead: list[list[Op]] = []

    def region(self, region: Region, *, certain: int) -> Region:
        """The region without what moved out; code here runs in every trip of loops > `certain`."""
        levels, depth = self._levels, len(self._ahead)
        for param in region.params:
            levels[param] = depth
        made: list[Op] = []
        reached = certain
        for op in region.ops:
            level = depth
            if op.opdef in PURE and depth:
                level = max([levels.get(operand, 0) for operand in op.operands], default=0)
                if op.opdef in EXPENSIVE:
                    level = max(level, reached)
            if level < depth:
                levels[op] = level
                self._ahead[level].append(op)
                continue
            if depth:
                levels[op] = depth
            if op.regions:
                self._control(op, made, reached)
                if any(map(_may_leave, op.regions)):
                    reached = depth
            else:
                made.append(op)
        return (
            region if tuple(made) == region.ops else Region(params=region.params, ops=tuple(made))
        )

    def _control(self, op: Op, made: list[Op], certain: int) -> None:
        """Append the op, and before it what its regions send ahead."""
        if op.opdef not in _LOOPS:
            conditional = len(self._ahead) if op.opdef is ops.IF else certain
            regions = tuple([self.region(part, certain=conditional) for part in op.regions])
        else:
            self._ahead.append([])
            regions = tuple([self.region(part, certain=certain) for part in op.regions])
            made += self._ahead.pop()
        made.append(op if regions == op.regions else rebuilt(op, regions=regions))


def _may_leave(region: Region) -> bool:
    """Whether something in a region may end more than the region."""
    return any(op.opdef in _LEAVING or any(map(_may_leave, op.regions)) for op in region.ops)


_LEAVING = frozenset({ops.BREAK, ops.CONTINUE, ops.LEAVE, ops.RETURN})
