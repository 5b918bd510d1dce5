"""What an op with constant operands gives: the op table's own `evaluate`, so folded and run values
are the same bits. Used by `simplify`; library functions fold through the ops they are made of.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from cubepy.ir import PURE, Op, OpDef, Rewriter, Scalar, freeze_attrs, ops

__all__ = ["FOLDABLE", "constant", "fold"]

FOLDABLE = frozenset(
    row for row in PURE if row.evaluate is not None and row.operands and row is not ops.CONST
)
Number = int | float  # bool too
Operand = tuple[Scalar, str, Number]


def constant(op: Op) -> Number | None:
    """The value of a constant, or None."""
    if op.opdef is not ops.CONST:
        return None
    value = op.attrs["value"]
    assert isinstance(value, int | float)
    return value


def fold(op: Op, rewriter: Rewriter) -> Op:
    """The constant that a foldable op gives if all operands are constants, else the op."""
    operands: list[Operand] = []
    for operand in op.operands:
        value = constant(operand)
        if value is None:
            return op
        assert isinstance(operand.type, Scalar)
        operands.append((operand.type, repr(value), value))
    assert isinstance(op.type, Scalar)
    value = _evaluated(op.opdef, op.type, tuple(operands))
    if op.opdef is ops.BITCAST and math.isnan(value):
        return op  # a Python float may not hold the bits of this NaN
    return rewriter.const(op.type, value, op)


@lru_cache(maxsize=4096)
def _evaluated(opdef: OpDef, type: Scalar, operands: tuple[Operand, ...]) -> Number:
    """The texts among the operands tell -0.0 from 0.0 and True from 1; equality does not."""
    assert opdef.evaluate is not None
    attrs = freeze_attrs({"to": type})  # the one attribute that a foldable op may have
    with np.errstate(all="ignore"):
        arrays = [np.asarray(value).astype(scalar.numpy) for scalar, _, value in operands]
        result = opdef.evaluate(*arrays, type=type, attrs=attrs)
    return float(result) if type.is_float else int(result)
