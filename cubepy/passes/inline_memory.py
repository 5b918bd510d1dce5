"""Before::

    function @set(%y: global<f32, [1], unknown, 0>, %v: f32) -> void {
      %0: index = const 3
      store %y, %0, %v [check=checked]
    }
    function @twice(%v: f32) -> f32 {
      %0: f32 = add %v, %v
      return %0
    }
    kernel @k(%y: global<f32, [1], unknown, 0>, %v: f32) cube_dim(64, 1, 1) {
      %0: f32 = call %v [callee=twice, results="f32"]
      call %y, %0 [callee=set, results=""]
    }

After::

    function @twice(%v: f32) -> f32 {
      %0: f32 = add %v, %v
      return %0
    }
    kernel @k(%y: global<f32, [1], unknown, 0>, %v: f32) cube_dim(64, 1, 1) {
      %0: f32 = call %v [callee=twice, results="f32"]
      %1: index = const 3
      store %y, %1, %0 [check=checked]
    }

For languages whose functions take values only, and do not know which unit they run for. Functions
that only compute stay.
"""

from __future__ import annotations

from cubepy.ir import Function, Kernel, MemoryType, Op, Trait, ops, walk
from cubepy.passes.context import PassContext
from cubepy.passes.inline_functions import inline_calls

__all__ = ["inline_memory"]


def inline_memory(kernel: Kernel, context: PassContext) -> Kernel:
    """Inline the functions that touch memory, report, or ask where they are."""
    chosen: set[str] = set()
    for function in kernel.functions:
        if _takes_memory(function) or any(_depends(op, chosen) for op in walk(function.body)):
            chosen.add(function.name)
    return inline_calls(kernel, chosen)


def _takes_memory(function: Function) -> bool:
    return any(isinstance(param.type, MemoryType) for param in function.params)


def _depends(op: Op, chosen: set[str]) -> bool:
    row = op.opdef
    if row is ops.CALL:
        return str(op.attrs["callee"]) in chosen
    placed = not op.operands and (row.has(Trait.VARYING) or row.has(Trait.UNIFORM))
    return (placed and row is not ops.CONST) or row.has(Trait.REPORTS)
