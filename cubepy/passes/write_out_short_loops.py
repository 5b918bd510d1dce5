"""Before::

    kernel @k(%x: global<f32, [1], read, 0>, %y: global<f32, [1], write, 1>) cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %0: index = const 0
      %1: index = const 2
      %2: index = const 1
      for %0, %1, %2 (%j: index) {
        %3: index = add %i, %j
        %4: f32 = load %x, %3 [check=checked]
        store %y, %3, %4 [check=checked]
      }
    }

After::

    kernel @k(%x: global<f32, [1], read, 0>, %y: global<f32, [1], write, 1>) cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %0: index = const 0
      %1: index = const 2
      %2: index = const 1
      %j: index = const 0
      %3: index = add %i, %j
      %4: f32 = load %x, %3 [check=checked]
      store %y, %3, %4 [check=checked]
      %j.1: index = const 1
      %5: index = add %i, %j.1
      %6: f32 = load %x, %5 [check=checked]
      store %y, %5, %6 [check=checked]
    }

A loop of few trips whose body is short and straight is written out: the processor then works on the
end of one such loop and the beginning of the next at the same time, and foresees no exit wrongly.
"""

from __future__ import annotations

from cubepy.ir import Kernel, Op, Rewriter, Scalar, Trait, clone_ops, ops, rewrite, walk
from cubepy.passes.context import PassContext
from cubepy.passes.fold_constants import constant

__all__ = ["write_out_short_loops"]

MOST_TRIPS = 16
MOST_OPS = 200


def write_out_short_loops(kernel: Kernel, context: PassContext) -> Kernel:
    """Repeat the bodies of short loops.

    With many registers one gang is as wide as a cube with barriers, if its code is short: it hides
    latency by itself, and stays as it is.
    """
    cooperative = any(op.opdef.has(Trait.BARRIER) for op in walk(kernel.body))
    if cooperative and context.target.features.mask_registers:
        return kernel
    return rewrite(kernel, {ops.FOR: _for})


def _for(op: Op, rewriter: Rewriter) -> Op | None:
    start, stop, step = (constant(operand) for operand in op.operands)
    if not (isinstance(start, int) and isinstance(stop, int) and isinstance(step, int) and step):
        return op
    trips, body = range(start, stop, step), op.regions[0]
    if len(trips[: MOST_TRIPS + 1]) > MOST_TRIPS or len(trips) * len(body.ops) > MOST_OPS:
        return op
    if any(_stays(inner) for inner in body.ops):
        return op
    variable = body.params[0]
    assert isinstance(variable.type, Scalar)
    for value in trips:
        number = rewriter.const(variable.type, value, variable)
        rewriter.splice(clone_ops(body.ops, {variable: number}, lambda loc: loc))
    return None


def _stays(op: Op) -> bool:
    """Whether a loop with this in it is left as it is."""
    return bool(op.regions) or op.opdef.has(Trait.EXIT) or op.opdef.has(Trait.BARRIER)
