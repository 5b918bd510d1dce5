"""Subscripts of 32 bits in gathers and scatters, whose addresses have 64.

A gather by 32-bit subscripts is one instruction a vector if LLVM sees in the same block that they
were widened; so they are widened again there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cubepy.codegen.llvm.conversions import cast
from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.values import Value, each_part
from cubepy.ir import I32, INDEX, Op, ops

__all__ = ["widened_here"]


@contextmanager
def widened_here(gang: Gang, indices: Sequence[Op]) -> Iterator[None]:
    """Code whose subscripts of 32 bits are widened in the block that is being written."""
    before = {index: gang.values[index] for index in indices if _is_narrow(gang, index)}
    for index, value in before.items():
        names = each_part(
            lambda name: cast(gang.vec, I32, INDEX, name), gang.values[index.operands[0]].names
        )
        gang.values[index] = Value(shape=value.shape, names=names)
    yield
    gang.values.update(before)


def _is_narrow(gang: Gang, index: Op) -> bool:
    """A subscript of its own in each lane, widened from a signed one of 32 bits."""
    if not gang.module.target.does("narrow") or gang.values[index].shape.level < 2:
        return False
    if index.opdef is not ops.CAST or index.operands[0].type is not I32:
        return False
    source = gang.values.get(index.operands[0])
    return source is not None and source.shape.level == 2
