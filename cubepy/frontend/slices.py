"""Slices of an axis: `lo:hi:step` as start, step and length, within the axis as Python cuts them.

Bounds are cut to the axis, so what is selected lies inside. Nothing counts from the end: a negative
bound known while compiling is an error, one at run time is before the first element.
"""

from __future__ import annotations

import ast

from cubepy.errors import CubeValueError
from cubepy.frontend.dispatch import lower_expression
from cubepy.frontend.frame import Frame
from cubepy.frontend.lengths import Length, Lengths
from cubepy.frontend.values import Known
from cubepy.ir import Op, ops

__all__ = ["slice_of"]


def slice_of(frame: Frame, length: Length, node: ast.Slice) -> tuple[Length, Length, Length]:
    """Start, step and number of the elements that a slice selects of an axis."""
    lower, upper = _bound(frame, node.lower, length), _bound(frame, node.upper, length)
    step = _number(frame, node.step)
    if step == 0:
        assert node.step is not None
        raise frame.error(
            CubeValueError, "the step of a slice is 0", node.step, "leave it out for a step of 1"
        )
    if isinstance(step, Op):
        return _either_way(frame, length, lower, upper, step, node)
    step = 1 if step is None else step
    ends = _forward if step > 0 else _backward
    start, distance = ends(Lengths(frame, node), length, lower, upper)
    return start, step, Lengths(frame, node).steps(distance, abs(step))


def _number(frame: Frame, node: ast.expr | None) -> Length | None:
    if node is None:
        return None
    value = lower_expression(frame, node)
    if isinstance(value, Known) and value.value is None:
        return None
    return Lengths(frame, node).of(value, "a bound of a slice")


def _bound(frame: Frame, node: ast.expr | None, length: Length) -> Length | None:
    found = _number(frame, node)
    if isinstance(found, int) and found < 0:
        assert node is not None
        shown = length if isinstance(length, int) else "len(x)"
        raise frame.error(
            CubeValueError,
            f"the bound {found} is negative: arrays in kernels do not count from the end",
            node,
            f"write {shown} - {-found}",
        )
    return found


def _forward(
    numbers: Lengths, length: Length, lower: Length | None, upper: Length | None
) -> tuple[Length, Length]:
    """The first element, and how far the end is from it."""
    start = 0 if lower is None else numbers.between(0, lower, length)
    stop = length if upper is None else numbers.between(0, upper, length)
    return start, numbers.sub(stop, start)


def _backward(
    numbers: Lengths, length: Length, lower: Length | None, upper: Length | None
) -> tuple[Length, Length]:
    """As `_forward` for steps towards the first element."""
    last = numbers.sub(length, 1)
    start = last if lower is None else numbers.between(-1, lower, last)
    stop = -1 if upper is None else numbers.between(-1, upper, last)
    return start, numbers.sub(start, stop)


def _either_way(
    frame: Frame, length: Length, lower: Length | None, upper: Length | None, step: Op, at: ast.AST
) -> tuple[Length, Length, Length]:
    """A step whose sign shows at run time; one of 0 selects nothing."""
    numbers = Lengths(frame, at)
    zero = numbers.op(0)
    ahead = frame.emit(ops.GT, step, zero, at=at)
    moves = frame.emit(ops.NE, step, zero, at=at)
    first, there = _forward(numbers, length, lower, upper)
    last, back = _backward(numbers, length, lower, upper)
    distance = numbers.where(ahead, there, back)
    some = frame.emit(
        ops.BIT_AND, moves, frame.emit(ops.GT, numbers.op(distance), zero, at=at), at=at
    )
    size = frame.emit(ops.ABS, step, at=at)
    # by C's division, which also takes the one number whose absolute value is negative
    whole = frame.emit(ops.TRUNC_DIV, numbers.op(numbers.sub(distance, 1)), size, at=at)
    count = numbers.where(some, numbers.add(whole, 1), 0)
    return numbers.where(ahead, first, last), step, count
