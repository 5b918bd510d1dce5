"""What the cells of arrays are, and how an element lies in one.

A cell is its element as it is in registers, where WGSL lets it be. Buffers with elements of 8 or
16 bits, or of several types, are arrays of words; atomics of 64 bits are on whole integers; floats
are summed as words where a device has no sums of its own; halves are halves where a device keeps
them.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from enum import Enum
from typing import TYPE_CHECKING

from cubepy.codegen.structured import Expression, call
from cubepy.codegen.wgsl.conversions import as_bits, as_pair, from_bits, helper
from cubepy.codegen.wgsl.types import machine_of
from cubepy.ir import F16, F32, F64, I64, INDEX, OpDef, Scalar, ops
from cubepy.target import Features

if TYPE_CHECKING:
    from cubepy.codegen.wgsl.prelude import Prelude

__all__ = ["Cells", "cell_of", "cells_of_buffer", "cells_of_shared", "element_in"]

# Atomics that there are of floats.
_FLOAT_SUMS = frozenset(
    {ops.ATOMIC_ADD, ops.ATOMIC_SUB, ops.ATOMIC_EXCHANGE, ops.ATOMIC_LOAD, ops.ATOMIC_STORE}
)


class Cells(Enum):
    """What an array has in its cells, other than elements as they are in registers."""

    OWN = ""
    WORDS = "u32"
    U64 = "u64"
    I64 = "i64"
    HALVES = "f16"


def cells_of_buffer(
    elements: AbstractSet[Scalar], atomics: AbstractSet[OpDef], features: Features, *, halves: bool
) -> Cells:
    """The cells of a buffer that has elements of these types, which these atomics touch; whether
    halves may be cells.
    """
    if halves and elements == {F16} and not atomics:
        return Cells.HALVES
    if len({each.bits for each in elements}) > 1 or min(each.bits for each in elements) < 32:
        return Cells.WORDS
    sums = elements == {F32} and features.float_sums and atomics <= _FLOAT_SUMS
    if sums:
        return Cells.OWN
    kept = cells_of_shared(elements, atomics, features)
    return Cells.WORDS if len(elements) > 1 and kept is Cells.OWN else kept


def cells_of_shared(
    elements: AbstractSet[Scalar], atomics: AbstractSet[OpDef], features: Features
) -> Cells:
    """The cells of memory of the cube, where narrow elements have one each, and of buffers."""
    if not atomics:
        return Cells.OWN
    if features.atomics_64 and all(each.bits == 64 for each in elements):
        return Cells.I64 if elements <= {I64, INDEX} else Cells.U64
    return Cells.WORDS if F32 in elements else Cells.OWN


def element_in(prelude: Prelude, scalar: Scalar, cells: Cells, cell: Expression) -> Expression:
    """The value of an element from the content of the cell that it has for itself."""
    if cells is Cells.OWN:
        return cell
    if cells is Cells.WORDS:
        return from_bits(scalar, cell)
    if cells is Cells.HALVES:
        return helper(prelude, "cb_narrow_f16", call("f32", cell))
    if scalar is F64:
        return call("bitcast<f64>", cell)
    whole = cell if cells is Cells.U64 else call("bitcast<u64>", cell)
    return helper(prelude, "cb_pair", whole)


def cell_of(prelude: Prelude, scalar: Scalar, cells: Cells, value: Expression) -> Expression:
    """What a cell holds for a value."""
    if cells is Cells.OWN:
        return value
    if cells is Cells.WORDS:
        return as_bits(scalar, value)
    if cells is Cells.HALVES:
        return call("f16", helper(prelude, "cb_widen_f16", value))
    if scalar is F64:
        return call("bitcast<u64>", value)
    whole = helper(prelude, "cb_whole", as_pair(prelude, machine_of(scalar), value))
    return whole if cells is Cells.U64 else call("bitcast<i64>", whole)
