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

An access whose subscripts are shown to lie inside (see `cubepy/ir/ranges.py`) is tested no more. Of
a branch whose condition is shown, as those of guards inside guards are, the arm taken is left.
"""

from __future__ import annotations

from cubepy.ir import (
    Kernel,
    Op,
    OpDef,
    Rewriter,
    Rule,
    Trait,
    analyze_ranges,
    freeze_attrs,
    ops,
    rebuilt,
    walk,
)
from cubepy.passes.context import PassContext
from cubepy.records import replace
from cubepy.target import Decision, Topic

__all__ = ["drop_bounds_checks"]

_ACCESSES = tuple(
    row for row in ops.BY_NAME.values() if row in (ops.LOAD, ops.STORE) or row.has(Trait.ATOMIC)
)


def drop_bounds_checks(kernel: Kernel, context: PassContext) -> Kernel:
    """Mark accesses that lie inside whatever happens as unchecked; drop guards that always hold."""
    tested = [
        op
        for op in walk(kernel.body)
        if op.attrs.get("check", "unchecked") != "unchecked" or op.opdef is ops.IF
    ]
    if not tested:
        return kernel
    ranges = analyze_ranges(kernel, plane_dim=context.target.plane_dim(kernel) or 0)
    if ranges.inside.isdisjoint(tested) and not ranges.decided:
        return kernel

    def drop(op: Op, rewriter: Rewriter) -> Op:
        if rewriter.original not in ranges.inside or op.attrs["check"] == "unchecked":
            return op
        text = "no test: the subscript is shown to lie inside"
        subject = op.operands[0].name
        context.remark(Decision(topic=Topic.BOUNDS, loc=op.loc, subject=subject, text=text))
        return rewriter.place(rebuilt(op, attrs=freeze_attrs({**op.attrs, "check": "unchecked"})))

    def decide(op: Op, rewriter: Rewriter) -> Op | None:
        if rewriter.original not in ranges.decided:
            return op
        text = "decided while compiling: other tests imply it"
        context.remark(Decision(topic=Topic.BRANCH, loc=op.loc, text=text))
        rewriter.splice(op.regions[0 if ranges.decided[rewriter.original] else 1].ops)
        return None

    rules: dict[OpDef, Rule] = {**dict.fromkeys(_ACCESSES, drop), ops.IF: decide}
    body = Rewriter(rules).region(kernel.body)
    return replace(kernel, body=body)
