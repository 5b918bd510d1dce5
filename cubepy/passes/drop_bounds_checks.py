"""Before::

    kernel @k(%x: global<f32, [1], read, 0>, %y: global<f32, [1], write, 1>) cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %n: index = length %y [axis=0]
      %0: bool = lt %i, %n
      if %0 {
        %1: f32 = load %x, %i [check=checked]
        store %y, %i, %1 [check=checked]
      }
    }

After::

    kernel @k(%x: global<f32, [1], read, 0>, %y: global<f32, [1], write, 1>) cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %n: index = length %y [axis=0]
      %0: bool = lt %i, %n
      if %0 {
        %1: f32 = load %x, %i [check=checked]
        store %y, %i, %1 [check=unchecked]
      }
    }

An access whose subscripts are shown to lie inside (see `cubepy/ir/ranges.py`) is tested no more.
"""

from __future__ import annotations

from cubepy.ir import (
    Kernel,
    Op,
    Rewriter,
    Trait,
    analyze_ranges,
    freeze_attrs,
    ops,
    rebuilt,
    walk,
)
from cubepy.passes.context import PassContext
from cubepy.records import replace

__all__ = ["drop_bounds_checks"]

_ACCESSES = tuple(
    row for row in ops.BY_NAME.values() if row in (ops.LOAD, ops.STORE) or row.has(Trait.ATOMIC)
)


def drop_bounds_checks(kernel: Kernel, context: PassContext) -> Kernel:
    """Mark accesses that lie inside whatever happens as unchecked."""
    tested = [op for op in walk(kernel.body) if op.attrs.get("check", "unchecked") != "unchecked"]
    if not tested:
        return kernel
    inside = analyze_ranges(kernel).inside
    if inside.isdisjoint(tested):
        return kernel

    def drop(op: Op, rewriter: Rewriter) -> Op:
        if rewriter.original not in inside:
            return op
        return rewriter.place(rebuilt(op, attrs=freeze_attrs({**op.attrs, "check": "unchecked"})))

    body = Rewriter(dict.fromkeys(_ACCESSES, drop)).region(kernel.body)
    return replace(kernel, body=body)
