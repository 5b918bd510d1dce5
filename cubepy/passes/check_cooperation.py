"""Refuses barriers and plane ops that not every unit gets to; changes nothing.

The rule is about the kernel as written, so it is applied before anything else, on an inlined copy
in which a name used again for something else is another variable.

Before::

    kernel @k(%y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      sync_cube
    }

After::

    kernel @k(%y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      sync_cube
    }
"""

from __future__ import annotations

from cubepy.ir import Kernel, Trait, analyses, ops, walk
from cubepy.passes.context import PassContext
from cubepy.passes.inline_functions import inline_functions
from cubepy.passes.split_locals import split_locals

__all__ = ["check_cooperation"]


_COOPERATIVE = frozenset(
    row for row in ops.BY_NAME.values() if row.has(Trait.BARRIER) or row.has(Trait.PLANE)
)


def check_cooperation(kernel: Kernel, context: PassContext) -> Kernel:
    """The same kernel, or UniformityError with the place, the branch in the way and what to do."""
    bodies = (kernel.body, *(function.body for function in kernel.functions))
    if any(op.opdef in _COOPERATIVE for body in bodies for op in walk(body)):
        target = context.target
        emulated = target.features.emulates_planes(target.plane_dim(kernel))
        alone = split_locals(inline_functions(kernel, context), context)
        analyses.check_cooperation(alone, planes_as_cubes=emulated)
    return kernel
