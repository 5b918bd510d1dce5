"""`assert`, `print` and tests of subscripts: what units tell the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cubepy.errors import OutOfBoundsError
from cubepy.interp.accesses import Handler
from cubepy.interp.masks import Mask, Value, first_lane, lanes_of, refused
from cubepy.interp.memory import at_lane, place_of
from cubepy.interp.state import State
from cubepy.ir import Op, OpDef, ops
from cubepy.runtime import Outside, assertion_failed, filled
from cubepy.target import Fault

__all__ = ["HANDLERS"]


def assertion(state: State, op: Op, mask: Mask) -> None:
    """Raises AssertionFailed for the first active unit whose condition does not hold."""
    condition, *values = op.operands
    failing = refused(mask, state.values[condition])
    if failing is False:
        return
    lane = first_lane(failing)
    text = _filled(state, op, values, lane)
    unit = state.batch.name(lane)
    raise assertion_failed(state.kernel_name, unit, text, place_of(op, state.calls))


def check_bounds(state: State, op: Op, mask: Mask) -> None:
    """Raises OutOfBoundsError for the first active unit whose index is outside."""
    index, extent = (state.values[operand] for operand in op.operands)
    failing = refused(mask, np.asarray((index >= 0) & (index < extent)))
    if failing is False:
        return
    lane = first_lane(failing)
    at, length = (int(at_lane(value, lane)) for value in (index, extent))
    fault, axis = Fault.of_check(op), op.attrs["axis"]
    assert isinstance(axis, int)
    outside = Outside(
        name=fault.text, subscript=at, length=length, axis=axis, axes=fault.axes, loc=op.loc
    )
    raise OutOfBoundsError(
        f"{state.batch.name(lane)} uses subscript {at} of `{fault.text}`, outside of "
        f"{outside.its_length}",
        place_of(op, state.calls),
        outside.guard,
    )


def print_values(state: State, op: Op, mask: Mask) -> None:
    """Keeps the text of each active unit until the launch has ended."""
    batch, text = state.batch, str(op.attrs["text"])
    values = [state.values[operand] for operand in op.operands]
    for lane in lanes_of(mask, batch.all_lanes).tolist():
        cube, unit = divmod(lane, batch.units)
        state.prints.add(batch.first + cube, unit, text, _at(values, lane))


def _filled(state: State, op: Op, values: list[Op], lane: int) -> str:
    return filled(str(op.attrs["text"]), _at([state.values[value] for value in values], lane))


def _at(values: list[Value], lane: int) -> list[Any]:
    return [at_lane(value, lane)[()] for value in values]


HANDLERS: Mapping[OpDef, Handler] = {
    ops.ASSERT: assertion,
    ops.CHECK_BOUNDS: check_bounds,
    ops.PRINT: print_values,
}
