"""Before::

    function @both(%v: i32) -> i32 {
      %0: i32 = plane_sum %v
      return %0
    }
    kernel @k(%a: i32, %y: global<i32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %0: i32 = call %a [callee=both, results="i32"]
      store %y, %i, %0 [check=checked]
    }

After::

    kernel @k(%a: i32, %y: global<i32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %0: i32 = plane_sum %a
      store %y, %i, %0 [check=checked]
    }

For languages that have functions, but memory of the cube and barriers only in the kernel itself.
Other functions stay.
"""

from __future__ import annotations

from cubepy.ir import Kernel, Op, Trait, ops, walk
from cubepy.passes.context import PassContext
from cubepy.passes.inline_functions import inline_calls

__all__ = ["inline_cooperation"]


def inline_cooperation(kernel: Kernel, context: PassContext) -> Kernel:
    """Inline the functions in which units of a cube work together."""
    chosen: set[str] = set()
    for function in kernel.functions:
        if any(_cooperates(op, chosen) for op in walk(function.body)):
            chosen.add(function.name)
    return inline_calls(kernel, chosen)


def _cooperates(op: Op, chosen: set[str]) -> bool:
    row = op.opdef
    if row is ops.CALL:
        return str(op.attrs["callee"]) in chosen
    return row is ops.SHARED or row.has(Trait.BARRIER) or row.has(Trait.PLANE)
