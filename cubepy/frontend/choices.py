"""Choices between literals alone: what is a literal on every path is weak, as a literal is.

Conditional expressions, `cb.select`, `min`, `max` and `cb.clamp` note here what their value can be.
A store, an annotation, an argument or a field that wants another type gets the same choice made of
literals of that type, so nothing is rounded twice. Known by the expression itself: a local that was
assigned a choice has the type it began with.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from cubepy.frontend.frame import Frame, Number
from cubepy.frontend.promotion import literal_fits
from cubepy.frontend.values import Known, Value, is_number
from cubepy.ir import Op, Scalar, ops

__all__ = ["literals_of", "note_choice", "of_type"]

_CHOOSING = (ops.SELECT, ops.MIN, ops.MAX)


def literals_of(frame: Frame, value: Value, at: ast.AST) -> Sequence[Number]:
    """Every number that a value can be, if all are literals; `at` is its expression."""
    if isinstance(value, Known) and is_number(value):
        return (value.value,)
    if not isinstance(value, Op):
        return ()
    whole = at.value if isinstance(at, ast.Subscript) else at  # perhaps a part of a choice
    nodes = whole.elts if isinstance(whole, ast.Tuple | ast.List) else [whole]
    found = (frame.choices.get(node, {}).get(value, ()) for node in nodes)
    return next(filter(None, found), ())


def note_choice(frame: Frame, op: Op, at: ast.AST, *given: Sequence[Number]) -> None:
    """The value of an expression is one of the literals of each operand, if each has some."""
    if all(given):
        frame.choices.setdefault(at, {})[op] = tuple(number for each in given for number in each)


def of_type(frame: Frame, op: Op, type: Scalar, at: ast.AST) -> Op | None:
    """A choice between literals made in a type that all of them fit; None for other values."""
    literals = literals_of(frame, op, at)
    if not literals or not all(literal_fits(value, type) for value in literals):
        return None
    if _is_spelled_out(op):
        return _again(frame, op, type, at)
    return None if type.is_float else frame.emit(ops.CAST, op, at=at, attrs={"to": type})


def _is_spelled_out(op: Op) -> bool:
    """Whether a choice is made of ops without regions, which can be made again."""
    if op.opdef is ops.CONST:
        return True
    return op.opdef in _CHOOSING and all(map(_is_spelled_out, _numbers(op)))


def _numbers(op: Op) -> tuple[Op, ...]:
    return op.operands[1:] if op.opdef is ops.SELECT else op.operands


def _again(frame: Frame, op: Op, type: Scalar, at: ast.AST) -> Op:
    if op.type == type:
        return op
    if op.opdef is ops.CONST:
        number = op.attrs["value"]
        assert isinstance(number, bool | int | float)
        return frame.const(type, number, at)
    numbers = [_again(frame, part, type, at) for part in _numbers(op)]
    condition = op.operands[: len(op.operands) - len(numbers)]
    return frame.emit(op.opdef, *condition, *numbers, at=at)
