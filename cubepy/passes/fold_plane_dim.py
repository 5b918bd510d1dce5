"""Before::

    kernel @k(%y: global<i64, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %0: index = plane_dim
      %1: i64 = cast %0 [to=i64]
      store %y, %0, %1 [check=checked]
    }

After, for a target whose planes have 8 units::

    kernel @k(%y: global<i64, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %0: index = const 8
      %1: i64 = cast %0 [to=i64]
      store %y, %0, %1 [check=checked]
    }

Where the kernel asks for a plane size, or the device has only one, it is a number from here on;
elsewhere the op stays.
"""

from __future__ import annotations

from cubepy.ir import INDEX, Kernel, Op, Rewriter, ops, rewrite
from cubepy.passes.context import PassContext

__all__ = ["fold_plane_dim"]


def fold_plane_dim(kernel: Kernel, context: PassContext) -> Kernel:
    """Replace `plane_dim` by the target's plane size, if it has one."""
    size = context.target.plane_dim(kernel)
    if not size:
        return kernel

    def fold(op: Op, rewriter: Rewriter) -> Op:
        return rewriter.const(INDEX, size, op)

    return rewrite(kernel, {ops.PLANE_DIM: fold})
