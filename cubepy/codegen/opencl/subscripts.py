"""Subscripts of private memory, kept inside whatever they are.

Compilers that run units of a kernel side by side access private memory for units that are not there
too, and put back what was there. Two things follow, both of which end the process with Intel's:

- They take a limit away where tests around the access imply it. The limit here is a number they do
  not know: no launch has more than three dimensions.
- A value that all units share and that is slow to make, such as a remainder, they leave out where
  no unit of a vector wants it; the access that it is the subscript of is still made. A subscript
  with such a value in it is one of each unit's own, so that each access is its unit's: no unit has
  a position of 2**62.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cubepy.codegen.structured import HELPER, Expression, primary
from cubepy.ir import Kernel, Op, PrivateType, Region, ops, walk

if TYPE_CHECKING:
    from cubepy.codegen.opencl.kernel import OpenclKernel

__all__ = ["held", "slow_values"]

_HELD = f"""\
ulong {HELPER}held(ulong subscript, ulong extent) {{
    return min(subscript, extent - 1 + (get_work_dim() > 3));
}}"""
_HELD_APART = f"""\
ulong {HELPER}held_apart(ulong subscript, ulong extent) {{
    return {HELPER}held(subscript + (get_global_id(0) >> 62), extent);
}}"""

# What is quick enough for compilers to make it for every unit: all else counts as slow.
_QUICK = (ops.ADD, ops.SUB, ops.MUL, ops.NEG, ops.MIN, ops.MAX, ops.CAST, ops.SELECT,
          ops.BIT_AND, ops.BIT_OR, ops.BIT_XOR, ops.BIT_NOT, ops.SHL, ops.SHR,
          ops.EQ, ops.NE, ops.LT, ops.LE, ops.GT, ops.GE)  # fmt: skip


def held(kernel: OpenclKernel, index: Op, text: Expression, extent: str) -> Expression:
    """A subscript of private memory, inside whatever it is."""
    if index.opdef is ops.CONST:
        return text
    kernel.prelude.add("held", _HELD)
    name = "held"
    if index in kernel.slow:
        kernel.prelude.add("held_apart", _HELD_APART)
        name = "held_apart"
    return primary(f"{HELPER}{name}({text}, {extent})")


def slow_values(kernel: Kernel) -> frozenset[Op]:
    """Values that are slow to make, or made of such, by way of variables too."""
    if not any(isinstance(op.type, PrivateType) for op in walk(kernel.body)):
        return frozenset()
    found = set[Op]()
    for function in kernel.functions:
        found.update(function.params)  # whatever the caller gives
    bodies = [kernel.body, *(function.body for function in kernel.functions)]
    made = [pair for body in bodies for pair in _made(body)]
    before = -1
    while before < len(found):
        before = len(found)
        found.update(value for value, sources in made if sources is None or found & set(sources))
    return frozenset(found)


def _made(body: Region) -> Iterator[tuple[Op, tuple[Op, ...] | None]]:
    """Each value and variable with what it is made of; None if it is slow by itself."""
    for op in walk(body):
        row = op.opdef
        if row is ops.STORE_LOCAL:
            yield op.operands[0], op.operands[1:]
        elif row is ops.FOR:
            yield op.regions[0].params[0], op.operands
        elif row in _QUICK or row is ops.LOAD_LOCAL:
            yield op, op.operands
        elif row is not ops.CONST and row is not ops.LOCAL and op.operands:
            yield op, None
