"""Before::

    kernel @k(%a: f32, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %acc: private<f32, [2]> = local_array [element=f32, shape=(2)]
      %0: index = const 0
      %1: index = const 2
      %2: index = const 1
      for %0, %1, %2 (%j: index) {
        store %acc, %j, %a [check=checked]
      }
      for %0, %1, %2 (%j.1: index) {
        store %y, %j.1, %a [check=checked]
      }
    }

After::

    kernel @k(%a: f32, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %acc: private<f32, [2]> = local_array [element=f32, shape=(2)]
      %0: index = const 0
      %1: index = const 2
      %2: index = const 1
      %j: index = const 0
      store %acc, %j, %a [check=checked]
      %j.1: index = const 1
      store %acc, %j.1, %a [check=checked]
      for %0, %1, %2 (%j.2: index) {
        store %y, %j.2, %a [check=checked]
      }
    }

A loop with known bounds is written out if that makes a subscript of a private array known, so that
the array can live in registers. Loops that `break` or `continue` stay, and long ones that `return`:
each turn would stand inside the one before, which drivers take minutes to compile.
"""

from __future__ import annotations

from cubepy.ir import PURE, Kernel, Op, Region, Rewriter, Scalar, clone_ops, ops, rewrite, walk
from cubepy.passes.context import PassContext
from cubepy.passes.control_rules import has_exit
from cubepy.passes.fold_constants import constant
from cubepy.passes.simplify import SIMPLIFICATIONS
from cubepy.target import Decision, Topic

__all__ = ["unroll_loops"]

MOST_TRIPS = 4096
MOST_OPS = 20_000
MOST_NESTED_OPS = 1_000


def unroll_loops(kernel: Kernel, context: PassContext) -> Kernel:
    """Write out loops over private arrays; what becomes constant is folded on the way."""
    if not any(op.opdef is ops.LOCAL_ARRAY for op in walk(kernel.body)):
        return kernel

    def unroll(op: Op, rewriter: Rewriter) -> Op | None:
        return _for(op, rewriter, context)

    return rewrite(kernel, {**SIMPLIFICATIONS, ops.FOR: unroll})


def _for(op: Op, rewriter: Rewriter, context: PassContext) -> Op | None:
    start, stop, step = (constant(operand) for operand in op.operands)
    if not (isinstance(start, int) and isinstance(stop, int) and isinstance(step, int) and step):
        return op
    trips = range(start, stop, step)
    body = op.regions[0]
    if trips[MOST_TRIPS:] or not _subscripts_private(body):
        return op
    rows = [inner.opdef for inner in walk(body)]
    most = MOST_NESTED_OPS if ops.RETURN in rows else MOST_OPS
    if len(rows) * len(trips) > most or has_exit(body, ops.BREAK, ops.CONTINUE):
        return op
    variable = body.params[0]
    assert isinstance(variable.type, Scalar)
    text = f"written out {len(trips)} times: its variable subscripts a private array"
    context.remark(Decision(topic=Topic.LOOP, loc=op.loc, subject=variable.name, text=text))
    for value in trips:
        number = rewriter.const(variable.type, value, variable)
        rewriter.splice(clone_ops(body.ops, {variable: number}, lambda loc: loc))
        if rewriter.ended:
            break
    return None


def _subscripts_private(body: Region) -> bool:
    """Whether a subscript of a private array is known once the loop is written out: its variable
    takes part in it, and nothing that is only known at run time.
    """
    derived, known = set(body.params), set(body.params)
    for op in walk(body):
        if op.opdef is ops.FOR:
            known.update(op.regions[0].params)
        elif op.opdef in PURE:
            if not derived.isdisjoint(op.operands):
                derived.add(op)
            varying = [each for each in op.operands if each.opdef is not ops.CONST]
            if varying and known.issuperset(varying):
                known.add(op)
        elif op.opdef in (ops.LOAD, ops.STORE) and op.operands[0].opdef is ops.LOCAL_ARRAY:
            rank = len(op.operands) - (2 if op.opdef is ops.STORE else 1)
            subscripts = [each for each in op.operands[1 : 1 + rank] if each.opdef is not ops.CONST]
            if known.issuperset(subscripts) and not derived.isdisjoint(subscripts):
                return True
    return False
