"""Python's own functions in kernels: `abs`, `min`, `round`, `divmod`, `len`, `zip` and their like.

With arguments known while compiling Python itself computes them; here is what they mean otherwise.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from cubepy.errors import CubeTypeError
from cubepy.frontend.arrays import axis_length
from cubepy.frontend.calls import Call, lowers_builtin, lowers_intrinsic, required
from cubepy.frontend.choices import literals_of, note_choice
from cubepy.frontend.coercion import (
    Operand,
    as_condition,
    typed,
    unify,
)
from cubepy.frontend.comptime import comptime_value, from_python
from cubepy.frontend.descriptions import describe, snippet
from cubepy.frontend.evaluation import evaluate_in_python, python_items
from cubepy.frontend.frame import Frame
from cubepy.frontend.intrinsics import apply_row
from cubepy.frontend.lengths import Lengths
from cubepy.frontend.operators import binary
from cubepy.frontend.values import (
    Known,
    TupleValue,
    Value,
    as_array,
    is_number,
    items_in_order,
)
from cubepy.ir import (
    BOOL,
    Op,
    OpDef,
    ops,
    scalar_type,
)

__all__ = ["measures"]


@lowers_builtin(builtins.abs)
@lowers_intrinsic("abs")
def lower_abs(frame: Frame, call: Call) -> Value:
    """`abs(x)`."""
    return apply_row(frame, ops.ABS, required(frame, call, "value"), call.node, call.name)


@lowers_builtin(builtins.round)
@lowers_intrinsic("round")
def lower_round(frame: Frame, call: Call) -> Value:
    """`round(x)`: half to even; a float stays a float, an integer is itself."""
    if len(call.positional) == 2:
        digits = call.positional[1].value
        known = digits.value if isinstance(digits, Known) and isinstance(digits.value, int) else 2
        scale = f"{10.0 ** min(max(known, 0), 9):.1f}"
        raise frame.error(
            CubeTypeError, f"{call.name} to a number of digits", call.node,
            f"scale and round: round({snippet(call.positional[0].node)} * {scale}) / {scale}",
        )  # fmt: skip
    (operand,) = required(frame, call, "value")
    op = typed(frame, operand.value, operand.node)
    if scalar_type(op).is_integer:
        return op
    return apply_row(frame, ops.ROUND, [operand], call.node, call.name)


@lowers_builtin(builtins.min, builtins.max)
@lowers_intrinsic("min", "max")
def lower_extreme(frame: Frame, call: Call) -> Value:
    """`min(a, b, …)`, `max(a, b, …)`, also of one tuple."""
    row = ops.MIN if call.name.endswith("min") else ops.MAX
    return _extreme(frame, row, call)


def _extreme(frame: Frame, row: OpDef, call: Call) -> Value:
    operands = list(call.positional)
    if call.keywords:
        raise frame.error(
            CubeTypeError, f"{call.name} takes no keywords", call.node,
            "write the comparison out: a if … else b",
        )  # fmt: skip
    items = items_in_order(operands[0].value) if len(operands) == 1 else None
    if items is not None:
        operands = [Operand(item, operands[0].node) for item in items]
    elif len(operands) == 1:
        raise frame.error(
            CubeTypeError, f"{call.name} of {describe(operands[0].value)} alone", call.node,
            f"over an array, write a loop: best = {call.name}(best, x[k])",
        )  # fmt: skip
    if not operands:
        raise frame.error(CubeTypeError, f"{call.name} of nothing", call.node, "give two numbers")
    for operand in operands:
        if not is_number(operand.value):
            typed(frame, operand.value, operand.node)
    made = unify(frame, operands, call.node, f"take the {row.name} of")
    if scalar_type(made[0]) == BOOL:
        raise frame.error(CubeTypeError, f"{call.name} of bools", call.node, "use & or |")
    result = made[0]
    for other in made[1:]:
        result = frame.emit(row, result, other, at=call.node)
    literals = [literals_of(frame, operand.value, operand.node) for operand in operands]
    note_choice(frame, result, call.node, *literals)
    return result


@lowers_builtin(builtins.divmod)
def lower_divmod(frame: Frame, call: Call) -> Value:
    """`divmod(a, b)`."""
    left, right = required(frame, call, "a", "b")
    quotient = binary(frame, ast.FloorDiv(), left, right, call.node)
    return TupleValue((quotient, binary(frame, ast.Mod(), left, right, call.node)))


@lowers_builtin(builtins.pow)
@lowers_intrinsic("pow")
def lower_pow(frame: Frame, call: Call) -> Value:
    """`pow(a, b)` is `a ** b`."""
    left, right = required(frame, call, "base", "exponent")
    return binary(frame, ast.Pow(), left, right, call.node)


Measurer = Callable[[Frame, Value, ast.AST], Op | None]
_MEASURERS: list[Measurer] = []


def measures(measurer: Measurer) -> Measurer:
    """Say which function gives the length of values; it gives None for those it does not know."""
    _MEASURERS.append(measurer)
    return measurer


@lowers_builtin(builtins.len)
def lower_len(frame: Frame, call: Call) -> Value:
    """`len(x)`: along the first axis; of a tuple, its elements."""
    (operand,) = required(frame, call, "value")
    value = operand.value
    items = items_in_order(value)
    if items is not None:
        return Known(len(items))
    for measurer in _MEASURERS:
        found = measurer(frame, value, call.node)
        if found is not None:
            return found
    array = as_array(value)
    if array is not None:
        return Lengths(frame, call.node).op(axis_length(frame, array, 0, call.node))
    raise frame.error(
        CubeTypeError, f"{describe(value)} has no len()", call.node, "arrays and tuples have one"
    )


@lowers_builtin(builtins.sum)
def lower_sum(frame: Frame, call: Call) -> Value:
    """`sum` of a tuple or vector: from left to right."""
    (operand,) = required(frame, call, "values")
    items = items_in_order(operand.value)
    if not items:
        raise frame.error(
            CubeTypeError, f"sum of {describe(operand.value)}", call.node, "write a loop"
        )
    first, *rest = items
    total = Operand(first, operand.node)
    for item in rest:
        value = binary(frame, ast.Add(), total, Operand(item, operand.node), call.node)
        total = Operand(value, call.node)
    return total.value


@lowers_builtin(builtins.all, builtins.any)
def lower_all(frame: Frame, call: Call) -> Value:
    """`all`, `any` of a tuple or vector of conditions, each of which is evaluated."""
    (operand,) = required(frame, call, "values")
    conjunction = call.name.endswith("all")
    row = ops.BIT_AND if conjunction else ops.BIT_OR
    result: Op | None = None
    for item in _sequence(frame, operand):
        part = as_condition(frame, item, operand.node)
        if isinstance(part, bool):
            if part != conjunction:
                return Known(part)
            continue
        result = part if result is None else frame.emit(row, result, part, at=call.node)
    return Known(conjunction) if result is None else result


@lowers_builtin(builtins.tuple, builtins.list)
def lower_to_tuple(frame: Frame, call: Call) -> Value:
    """`tuple(x)` of a tuple."""
    (operand,) = required(frame, call, "values")
    return TupleValue(tuple(_sequence(frame, operand)))


def _sequence(frame: Frame, operand: Operand) -> list[Value]:
    value = operand.value
    items = items_in_order(value)
    if items is not None:
        return list(items)
    if isinstance(value, Known) and hasattr(value.value, "__iter__"):
        elements = python_items(frame, value.value, operand.node)
        return [from_python(frame, item, operand.node) for item in elements]
    raise frame.error(
        CubeTypeError,
        f"{describe(value)} is no sequence known while compiling",
        operand.node,
        "loop over range(len(x))" if as_array(value) is not None else "",
    )


@lowers_builtin(builtins.enumerate)
def lower_enumerate(frame: Frame, call: Call) -> Value:
    """`enumerate(tuple)`."""
    (operand,) = required(frame, call, "values")
    pairs = enumerate(_sequence(frame, operand))
    return TupleValue(tuple(TupleValue((Known(number), item)) for number, item in pairs))


@lowers_builtin(builtins.zip)
def lower_zip(frame: Frame, call: Call) -> Value:
    """`zip(tuples…)`."""
    columns = [_sequence(frame, operand) for operand in call.positional]
    return TupleValue(tuple(TupleValue(row) for row in zip(*columns, strict=False)))


@lowers_builtin(builtins.reversed)
def lower_reversed(frame: Frame, call: Call) -> Value:
    """`reversed(tuple)`."""
    (operand,) = required(frame, call, "values")
    return TupleValue(tuple(reversed(_sequence(frame, operand))))


@lowers_builtin(builtins.range)
def lower_range(frame: Frame, call: Call) -> Value:
    """A `range` that is not the head of a loop must be known while compiling."""
    numbers = [comptime_value(frame, operand.value, operand.node, "a range outside `for`")
               for operand in call.positional]  # fmt: skip
    return evaluate_in_python(frame, range, call.node, *numbers)
