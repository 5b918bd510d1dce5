"""Before::

    kernel @k(%y: global<f32, [1], unknown, 0>, %v: f32) cube_dim(64, 1, 1) {
      %i: index = absolute_pos_x
      %0: index = length %y [axis=0]
      %1: bool = lt %i, %0
      if %1 {
        store %y, %i, %v [check=unchecked]
      }
    }

After::

    kernel @k(%y: global<f32, [1], unknown, 0>, %v: f32) cube_dim(64, 1, 1) {
      %0: index = cube_pos_x
      %1: index = const 64
      %2: index = mul %0, %1
      %3: index = const 63
      %4: index = add %2, %3
      %5: index = length %y [axis=0]
      %6: bool = lt %4, %5
      if %6 {
        %i: index = absolute_pos_x
        %7: index = length %y [axis=0]
        %8: bool = lt %i, %7
        store %y, %i, %v [check=unchecked]
      } else {
        %i.1: index = absolute_pos_x
        %9: index = length %y [axis=0]
        %10: bool = lt %i.1, %9
        if %10 {
          store %y, %i.1, %v [apart=true, check=unchecked]
        }
      }
    }

One test for all units of a cube, in place of guards and bounds tests of each: compilers that run
units side by side must mask what only some units do, and that can cost more than the work itself.
They also merge code that two branches have in common, so stores of the second copy are marked;
loads only where nothing is stored, for a compiler may give up vectors where it must not move them.
Divisions of 64 bits are slow: the test also says of those that no negative number is divided in
that their operands fit 31 bits, and the first copy has them marked.

Kernels whose units work together stay as they are: a barrier must be reached by all units at one
place, and PoCL 3.1 hangs where one stands in both arms of a branch, though all units take the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from cubepy.ir import (
    APART,
    BOOL,
    NARROW,
    BufferType,
    Builder,
    Kernel,
    Op,
    PrivateType,
    Region,
    Rewriter,
    Scalar,
    SharedType,
    Trait,
    analyses,
    analyze_ranges,
    freeze_attrs,
    ops,
    rebuilt,
    walk,
)
from cubepy.passes.context import PassContext
from cubepy.passes.cube_bounds import CubeBounds
from cubepy.records import replace

__all__ = ["separate_whole_cubes"]

# Kernels with more ops are not written out twice.
_LARGEST = 3000
_MOST = (1 << 31) - 1
_DIVISIONS = (ops.FLOOR_DIV, ops.FLOOR_MOD, ops.TRUNC_DIV, ops.TRUNC_REM)


def separate_whole_cubes(kernel: Kernel, context: PassContext) -> Kernel:
    """Write the body out twice: for cubes in which every unit does everything, and for others."""
    every = list(walk(kernel.body))
    if len(every) > _LARGEST or any(_works_together(op) for op in every):
        return kernel
    found = analyses.find_assumptions(kernel.body, analyses.analyze_cube(kernel), {})
    if not found.conditions and not found.inside:
        return kernel
    narrow = _narrow_divisions(kernel)
    builder = Builder()
    builder.loc = kernel.loc
    with builder.region() as opened:
        whole = _test(builder, kernel, found, narrow)
        arms = (_copy(kernel.body, found, frozenset(narrow), {}), _set_apart(kernel.body))
        builder.emit(ops.IF, whole, regions=arms)
    return replace(kernel, body=opened.close())


def _works_together(op: Op) -> bool:
    row = op.opdef
    return row is ops.SHARED or row.has(Trait.BARRIER) or row.has(Trait.PLANE)


def _narrow_divisions(kernel: Kernel) -> list[Op]:
    """Divisions of 64 bits by what no constant is, that a test may show to need 31 bits only."""
    computable, known = analyses.Computable(kernel.body), analyze_ranges(kernel).intervals
    return [
        op
        for op in walk(kernel.body)
        if op.opdef in _DIVISIONS
        and isinstance(op.type, Scalar)
        and op.type.bits == 64
        and op.operands[1].opdef is not ops.CONST
        and all(map(computable, op.operands))
        and known.get(op.operands[0], (-1, 0))[0] >= 0
    ]


def _test(
    builder: Builder, kernel: Kernel, found: analyses.Assumptions, narrow: Sequence[Op]
) -> Op:
    """Whether all that is taken for granted holds, as one bool."""
    loops = analyses.Computable(kernel.body).loops
    bounds = CubeBounds(builder, kernel.cube_dim, loops)
    for condition, wanted in found.conditions.items():
        bounds.require_condition(condition, wanted=wanted)
    for op in (op for op in walk(kernel.body) if op in found.inside):
        memory = op.operands[0]
        for axis, index in enumerate(analyses.subscripts(op)):
            bounds.require_inside(index, _extent(builder, memory, axis))
    for op in (op for op in walk(kernel.body) if op in found.exact):
        bounds.of(op.operands[0])
    for op in narrow:
        bounds.require_between(op.operands[0], 0, _MOST)
        bounds.require_between(op.operands[1], 1, _MOST)
    conditions = list(dict.fromkeys(bounds.conditions))
    if not conditions:
        return builder.const(BOOL, True)
    return reduce(lambda a, b: builder.emit(ops.BIT_AND, a, b, name="whole_cube"), conditions)


def _extent(builder: Builder, memory: Op, axis: int) -> Op:
    type = memory.type
    if isinstance(type, BufferType):
        return builder.emit(ops.LENGTH, memory, attrs={"axis": axis})
    assert isinstance(type, SharedType | PrivateType)
    return builder.index(type.shape[axis])


def _set_apart(body: Region) -> Region:
    """The body with its stores to buffers marked, or else its loads, lest a compiler make one code
    of the copies.
    """
    stores = any(op.opdef is ops.STORE and _in_buffer(op) for op in walk(body))

    def mark(op: Op, rewriter: Rewriter) -> Op:
        if not _in_buffer(op):
            return op
        return rewriter.place(rebuilt(op, attrs=freeze_attrs({**op.attrs, APART: True})))

    return Rewriter({ops.STORE if stores else ops.LOAD: mark}).region(body)


def _in_buffer(op: Op) -> bool:
    return isinstance(op.operands[0].type, BufferType)


def _copy(
    region: Region, found: analyses.Assumptions, narrow: frozenset[Op], values: dict[Op, Op]
) -> Region:
    """The region again, without the guards that hold and the tests that succeed."""
    params = tuple(rebuilt(param) for param in region.params)
    values.update(zip(region.params, params, strict=True))
    made: list[Op] = []
    for op in region.ops:
        operands = tuple(values.get(operand, operand) for operand in op.operands)
        attrs = op.attrs
        if op in found.inside:
            attrs = freeze_attrs({**attrs, "check": "unchecked"})
        if op in narrow:
            attrs = freeze_attrs({**attrs, NARROW: True})
        if op.operands and op.operands[0] in found.conditions and op.opdef is ops.IF:
            chosen = op.regions[0 if found.conditions[op.operands[0]] else 1]
            made += _copy(chosen, found, narrow, values).ops
            if made and made[-1].opdef.has(Trait.EXIT):
                break
            continue
        regions = tuple(_copy(inner, found, narrow, values) for inner in op.regions)
        copy = rebuilt(op, operands=operands, attrs=attrs, regions=regions)
        values[op] = copy
        made.append(copy)
    return Region(params=params, ops=tuple(made))
