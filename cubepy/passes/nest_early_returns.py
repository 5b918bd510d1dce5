"""Before::

    kernel @k(%y: global<f32, [1], unknown, 0>, %n: index) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %0: bool = ge %i, %n
      if %0 {
        return
      }
      %1: f32 = const 1.0
      store %y, %i, %1 [check=checked]
    }

After::

    kernel @k(%y: global<f32, [1], unknown, 0>, %n: index) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %0: bool = ge %i, %n
      %1: bool = bit_not %0
      if %1 {
        %2: f32 = const 1.0
        store %y, %i, %2 [check=checked]
      }
    }

What follows an `if` with an arm that leaves goes into the other arm, and the exit goes away, where
it means the same as reaching the end: `return` in the body of a kernel, `continue` in that of a
loop, `leave` in a block. A returned value stays, at the end of its arm.
"""

from __future__ import annotations

from collections.abc import Sequence

from cubepy.ir import (
    EXITS,
    Kernel,
    Op,
    OpDef,
    Region,
    map_bodies,
    ops,
    rebuilt,
)
from cubepy.passes.context import PassContext

__all__ = ["nest_early_returns"]

# Each nested guard is a level of recursion for all who walk regions; further guards stay exits.
DEEPEST = 32
EMPTY = Region()


def nest_early_returns(kernel: Kernel, context: PassContext) -> Kernel:
    """Turn guards that leave into nesting, in the kernel and its functions."""
    return map_bodies(kernel, _body)


def _body(body: Region) -> Region:
    return _region(body, frozenset({ops.RETURN}), 0)


def _region(region: Region, ends: frozenset[OpDef], depth: int) -> Region:
    """`ends` are the exits that mean the same as reaching the end of this region."""
    made = _list(region.ops, ends, depth)
    return region if made == region.ops else Region(params=region.params, ops=made)


def _list(given: Sequence[Op], ends: frozenset[OpDef], depth: int) -> tuple[Op, ...]:
    made: list[Op] = []
    for number, op in enumerate(given):
        if not op.regions:
            made.append(op)
            continue
        rest = given[number + 1 :]
        if op.opdef is ops.IF and depth < DEEPEST and _guards(op, ends):
            made += _nested(op, rest, ends, depth)
            break
        made.append(_inside(op, ends if not rest else frozenset(), depth))
    if made and made[-1].opdef in ends and not made[-1].operands:
        made.pop()
    return tuple(made)


def _guards(op: Op, ends: frozenset[OpDef]) -> bool:
    return any(region.ops and region.ops[-1].opdef in ends for region in op.regions)


def _leaves(region: Region) -> bool:
    return bool(region.ops) and region.ops[-1].opdef in EXITS


def _nested(op: Op, rest: Sequence[Op], ends: frozenset[OpDef], depth: int) -> list[Op]:
    """The `if` with all that follows it in the arms that do not leave."""
    arms = [
        Region(ops=_list(arm.ops if _leaves(arm) else (*arm.ops, *rest), ends, depth + 1))
        for arm in op.regions
    ]
    if arms[0].ops or not arms[1].ops:
        return [rebuilt(op, regions=tuple(arms))]
    opposite = Op(opdef=ops.BIT_NOT, operands=op.operands, type=op.operands[0].type, loc=op.loc)
    return [opposite, rebuilt(op, operands=(opposite,), regions=(arms[1], EMPTY))]


def _inside(op: Op, ends: frozenset[OpDef], depth: int) -> Op:
    """The op with its regions nested; `ends` are those of the region if the op is its last."""
    inner = ends
    if op.opdef is ops.BLOCK:
        inner = ends | {ops.LEAVE}
    elif op.opdef is not ops.IF:
        inner = frozenset({ops.CONTINUE})
    regions = tuple([_region(region, inner, depth + 1) for region in op.regions])
    return op if regions == op.regions else rebuilt(op, regions=regions)
