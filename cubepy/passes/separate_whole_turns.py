"""Before::

    kernel @k(%y: global<f32, [1], unknown, 0>, %v: f32) cube_dim(64, 1, 1) {
      %lane: index = unit_pos
      %0: index = length %y [axis=0]
      %1: index = const 64
      for %lane, %0, %1 (%j: index) {
        store %y, %j, %v [check=unchecked]
      }
    }

After::

    kernel @k(%y: global<f32, [1], unknown, 0>, %v: f32) cube_dim(64, 1, 1) {
      %lane: index = unit_pos
      %0: index = length %y [axis=0]
      %1: index = const 64
      %j: slot<index> = local [element=index]
      %2: index = const 0
      store_local %j, %2
      %3: index = const 63
      %4: index = sub %0, %3
      for %2, %4, %1 (%j.1: index) {
        %j.2: index = add %j.1, %lane
        store %y, %j.2, %v [check=unchecked]
        %5: index = add %j.1, %1
        store_local %j, %5
      }
      %6: index = load_local %j
      %7: index = add %6, %lane
      %8: bool = lt %7, %0
      if %8 {
        store %y, %7, %v [check=unchecked]
      }
    }

Units that share a range take every n-th turn each. Compilers that run units side by side give such
loops a mask, and everything in them, calls of `fma` too. So the turns that all of them take become
a loop of its own, which counts for all alike, and those that only some take stand behind an `if`.
"""

from __future__ import annotations

import math

from cubepy.ir import (
    INDEX,
    Builder,
    Kernel,
    Op,
    OpDef,
    Region,
    Rewriter,
    Trait,
    analyze_ranges,
    clone_ops,
    ops,
    param,
    rewrite,
    walk,
)
from cubepy.passes.context import PassContext
from cubepy.passes.fold_constants import constant
from cubepy.target import Decision, Topic

__all__ = ["separate_whole_turns"]

# Loops with more ops are not written out twice.
_LARGEST = 200
# Sums of two such numbers less one are still indices; arrays have no more elements.
_MOST = 1 << 62


def separate_whole_turns(kernel: Kernel, context: PassContext) -> Kernel:
    """Part the loops of units that stride over a range together."""
    x = kernel.cube_dim[0]
    units = {
        ops.UNIT_POS: math.prod(kernel.cube_dim),
        ops.UNIT_POS_X: x,
        ops.UNIT_POS_PLANE: context.target.plane_dim(kernel),
    }
    if not any(op.opdef is ops.FOR and _strides(op, units) for op in walk(kernel.body)):
        return kernel
    known = analyze_ranges(kernel).intervals

    def part(op: Op, rewriter: Rewriter) -> Op | None:
        low, high = known.get(rewriter.original.operands[1], (INDEX.minimum, INDEX.maximum))
        if low < -_MOST or high > _MOST or not _strides(op, units):
            return op
        text = "turns that all units take have a loop of their own, those of some stand behind it"
        subject = op.regions[0].params[0].name
        context.remark(Decision(topic=Topic.LOOP, loc=op.loc, subject=subject, text=text))
        _part(op, rewriter, units[op.operands[0].opdef])
        return None

    return rewrite(kernel, {ops.FOR: part})


def _strides(op: Op, units: dict[OpDef, int]) -> bool:
    """Whether a loop begins with the number of the unit and each turn leaves all units behind."""
    start, _, step = op.operands
    among, stride = units.get(start.opdef, 0), constant(step)
    if among < 2 or not (isinstance(stride, int) and among <= stride <= _MOST):
        return False
    inside = list(walk(op.regions[0]))
    return len(inside) <= _LARGEST and not any(map(_stays, inside))


def _stays(op: Op) -> bool:
    """Whether a loop with this in it is left as it is."""
    return any(op.opdef.has(trait) for trait in (Trait.EXIT, Trait.BARRIER, Trait.PLANE))


def _part(op: Op, rewriter: Rewriter, among: int) -> None:
    """Emit the turns that all units take, then those that are left to some of them."""
    lane, stop, step = op.operands
    (variable,) = op.regions[0].params
    body = rewriter.region(op.regions[0])
    builder = Builder()
    builder.loc = op.loc
    with builder.region() as opened:
        first = builder.emit(ops.LOCAL, attrs={"element": INDEX}, name=variable.name)
        builder.emit(ops.STORE_LOCAL, first, builder.index(0))
        last = builder.emit(ops.SUB, stop, builder.index(among - 1))
        turn = param(variable.name, INDEX, op.loc)
        with builder.region(turn) as whole:
            _turn(builder, body, variable, turn, lane)
            builder.emit(ops.STORE_LOCAL, first, builder.emit(ops.ADD, turn, step))
        builder.emit(ops.FOR, builder.index(0), last, step, regions=(whole.close(),))
        behind = builder.emit(ops.LOAD_LOCAL, first)
        own = builder.emit(ops.ADD, behind, lane)
        left = builder.emit(ops.LT, own, stop)
        with builder.region() as some:
            _turn(builder, body, variable, behind, lane)
        builder.emit(ops.IF, left, regions=(some.close(), Region()))
    rewriter.out += opened.ops


def _turn(builder: Builder, body: Region, variable: Op, turn: Op, lane: Op) -> None:
    own = builder.emit(ops.ADD, turn, lane, name=variable.name)
    for made in clone_ops(body.ops, {variable: own}, lambda loc: loc):
        builder.append(made)
