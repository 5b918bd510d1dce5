"""What each op without effects is in WGSL, keyed by its name.

`VALUES` maps names to functions `(kernel, body, op, operands) -> expression`; its keys are the
value ops that the target has natively.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cubepy.codegen.structured import Body, Expression, binary, unary
from cubepy.codegen.wgsl.conversions import bitcast, cast, invoked, moved
from cubepy.codegen.wgsl.floats import FLOATS, float_op
from cubepy.codegen.wgsl.integers import INTEGERS, integer_op
from cubepy.ir import BOOL, Op, scalar_type

if TYPE_CHECKING:
    from cubepy.codegen.wgsl.kernel import WgslKernel

__all__ = ["VALUES", "combined"]

Operands = Sequence[Expression]
Emit = Callable[["WgslKernel", Body, Op, Operands], Expression]
_LOGIC = {"bit_and": "&", "bit_or": "|", "bit_xor": "!=", "eq": "==", "ne": "!="}


def _by_kind(kernel: WgslKernel, body: Body, op: Op, operands: Operands) -> Expression:
    scalar, name = scalar_type(op.operands[0]), op.opdef.name
    if scalar is BOOL:
        return unary("!", operands[0]) if name == "bit_not" else binary(_LOGIC[name], *operands)
    kind = float_op if scalar.is_float else integer_op
    return kind(kernel, body, op, operands)


def _select(kernel: WgslKernel, body: Body, op: Op, operands: Operands) -> Expression:
    condition, *arms = operands
    wanted = kernel.machine(op)
    yes, no = (
        moved(kernel.prelude, kernel.machine(arm), wanted, value)
        for arm, value in zip(op.operands[1:], arms, strict=True)
    )
    return invoked("select", no, yes, condition)


def _converted(convert: Callable[..., Expression]) -> Emit:
    """`convert(prelude, type, machine, new type, new machine, value)` as an op."""

    def emit(kernel: WgslKernel, body: Body, op: Op, operands: Operands) -> Expression:
        (source,), machine = op.operands, kernel.machine
        before, after = (scalar_type(source), machine(source)), (scalar_type(op), machine(op))
        return convert(kernel.prelude, *before, *after, operands[0])

    return emit


VALUES: dict[str, Emit] = {
    **dict.fromkeys(sorted({*INTEGERS, *FLOATS}), _by_kind),
    "select": _select,
    "cast": _converted(cast),
    "bitcast": _converted(bitcast),
}


def combined(
    kernel: WgslKernel, body: Body, row_name: str, sample: Op, given: Operands
) -> Expression:
    """Two values combined as an op does, outside of the walk."""
    return VALUES[row_name](kernel, body, sample, given)
