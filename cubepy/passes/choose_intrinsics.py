"""Before::

    function @plain(%v: f32) -> f32 {
      %0: f32 = abs %v
      return %0
    }
    kernel @k(%x: global<f32, [1], unknown, 0>) cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %0: f32 = load %x, %i [check=checked]
      %1: f32 = intrinsic %0 [callee=plain, constraints="", results="f32", target=ptx, template=a]
      store %x, %i, %1 [check=checked]
    }

After::

    function @plain(%v: f32) -> f32 {
      %0: f32 = abs %v
      return %0
    }
    kernel @k(%x: global<f32, [1], unknown, 0>) cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %0: f32 = load %x, %i [check=checked]
      %1: f32 = call %0 [callee=plain, results="f32"]
      store %x, %i, %1 [check=checked]
    }

An instruction that is meant for another target becomes the call of what it stands for.
"""

from __future__ import annotations

from cubepy.ir import Kernel, Op, Rewriter, freeze_attrs, ops, rebuilt, rewrite
from cubepy.passes.context import PassContext
from cubepy.records import replace
from cubepy.target import Target

__all__ = ["choose_intrinsics"]


def choose_intrinsics(kernel: Kernel, context: PassContext) -> Kernel:
    """Keep the instructions asked for where the target has them, call their fallbacks elsewhere."""

    def choose(op: Op, rewriter: Rewriter) -> Op:
        wanted = Target.parse(str(op.attrs["target"]))
        if context.target.covers(wanted):
            kept = {name: value for name, value in op.attrs.items() if name != "callee"}
            return rewriter.place(rebuilt(op, attrs=freeze_attrs(kept)))
        attrs = freeze_attrs({name: op.attrs[name] for name in ("callee", "results")})
        return rewriter.place(replace(op, opdef=ops.CALL, attrs=attrs))

    return rewrite(kernel, {ops.INTRINSIC: choose})
