"""Before::

    kernel @k(%y: global<i64, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %x: index = absolute_pos_x
      %n: index = extent_x
      %0: bool = lt %x, %n
      if %0 {
        %i: index = absolute_pos
        %1: i64 = cast %i [to=i64]
        store %y, %i, %1 [check=checked]
      }
    }

After::

    kernel @k(%y: global<i64, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %x: index = absolute_pos_x
      %n: index = extent_x
      %0: bool = lt %x, %n
      if %0 {
        %i: index = absolute_pos_x
        %1: i64 = cast %i [to=i64]
        store %y, %i, %1 [check=checked]
      }
    }

A launch over a shape of one axis has cubes along x only, which its guard tells: it asks for the
extent of x and of no other axis.
"""

from __future__ import annotations

from cubepy.ir import Kernel, Op, Rewriter, ops, rewrite, walk
from cubepy.passes.context import PassContext

__all__ = ["flatten_positions"]

_ALONG_X = {
    ops.ABSOLUTE_POS: ops.ABSOLUTE_POS_X,
    ops.CUBE_POS: ops.CUBE_POS_X,
    ops.CUBE_COUNT: ops.CUBE_COUNT_X,
}


def flatten_positions(kernel: Kernel, context: PassContext) -> Kernel:
    """Replace linear positions by those along x where there is nothing else."""
    asked = {op.opdef for op in walk(kernel.body)}
    if ops.EXTENT_X not in asked or asked & {ops.EXTENT_Y, ops.EXTENT_Z}:
        return kernel

    def along_x(op: Op, rewriter: Rewriter) -> Op:
        return rewriter.emit(_ALONG_X[op.opdef], like=op)

    return rewrite(kernel, dict.fromkeys(_ALONG_X, along_x))
