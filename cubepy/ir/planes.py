"""What plane operations compute: the operation that combines two lanes, and its neutral value."""

from __future__ import annotations

from collections.abc import Mapping

from cubepy.ir import ops
from cubepy.ir.opdef import OpDef
from cubepy.ir.types import Scalar

__all__ = ["PLANE_REDUCTIONS", "PLANE_SCANS", "neutral_of"]

PLANE_REDUCTIONS: Mapping[OpDef, OpDef] = {
    ops.PLANE_SUM: ops.ADD,
    ops.PLANE_PROD: ops.MUL,
    ops.PLANE_MIN: ops.MIN,
    ops.PLANE_MAX: ops.MAX,
}

#: The operation, and what lane 0 of an exclusive scan has; None for an inclusive one.
PLANE_SCANS: Mapping[OpDef, tuple[OpDef, int | None]] = {
    ops.PLANE_INCLUSIVE_SUM: (ops.ADD, None),
    ops.PLANE_EXCLUSIVE_SUM: (ops.ADD, 0),
    ops.PLANE_INCLUSIVE_PROD: (ops.MUL, None),
    ops.PLANE_EXCLUSIVE_PROD: (ops.MUL, 1),
}


def neutral_of(row: OpDef, scalar: Scalar) -> int | float:
    """The operand that changes nothing; of a float sum it is -0.0."""
    if row is ops.ADD:
        return -0.0 if scalar.is_float else 0
    if row is ops.MUL:
        return 1
    if scalar.is_float:
        return float("inf") if row is ops.MIN else float("-inf")
    return scalar.maximum if row is ops.MIN else scalar.minimum
