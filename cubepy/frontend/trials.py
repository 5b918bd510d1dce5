"""Lowering an expression that will not run, to learn what type it would have.

Where a condition is known while compiling only one arm becomes code. The other still says what a
literal beside it means, if it has a meaning at all: a trial lowers it, takes every trace of that
back, and treats an error in it as no answer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from cubepy.errors import SourceError
from cubepy.frontend.coercion import literal
from cubepy.frontend.dispatch import lower_expression
from cubepy.frontend.frame import Assigned, Binding, Frame
from cubepy.frontend.promotion import literal_type
from cubepy.frontend.values import (
    POISON,
    Group,
    Known,
    Value,
    holds_number,
    same_kind,
    with_items,
)
from cubepy.ir import Scalar
from cubepy.records import replace

__all__ = ["typed_beside"]


def typed_beside(
    frame: Frame, value: Value, at: ast.AST, other: ast.expr, start: Assigned
) -> Value:
    """A value whose literals have taken the types they meet in `other`, the arm not taken.

    `start`: what is assigned where that arm begins.
    """
    if frame.comptime or isinstance(other, ast.Constant) or not holds_number(value):
        return value
    with _taken_back(frame, other):
        frame.assigned = start
        try:
            beside = lower_expression(frame, other)
        except SourceError:
            beside = POISON
    return _meeting(frame, value, at, beside)


def _meeting(frame: Frame, value: Value, at: ast.AST, beside: Value) -> Value:
    if isinstance(value, Group) and isinstance(beside, Group) and same_kind(value, beside):
        pairs = zip(value.items, beside.items, strict=True)
        return with_items(value, [_meeting(frame, item, at, other) for item, other in pairs])
    type = getattr(beside, "type", None)
    if not isinstance(value, Known) or not holds_number(value) or not isinstance(type, Scalar):
        return value
    taken = literal_type(value.value, type)
    return value if taken is None else literal(frame, value.value, taken, at)


@contextmanager
def _taken_back(frame: Frame, node: ast.expr) -> Iterator[None]:
    """Lowering `node` inside leaves no op, no helper, no complaint and no plan behind."""
    session, plan = frame.session, frame.plan
    complaints, prints = len(session.complaints), len(session.prints)
    warned = len(session.warnings)
    functions, instances = len(session.functions), dict(session.instances)
    counted, exhausted, trial = session.ops, session.exhausted, session.trial
    planned = (dict(plan.types), set(plan.slots), set(plan.guarded), plan.changed)
    bindings, assigned, gaps = frame.bindings, frame.assigned, dict(frame.gaps)
    if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
        bindings = {variable: _copied(binding) for variable, binding in bindings.items()}
    session.trial = True
    with frame.branch():
        yield
    del session.complaints[complaints:], session.prints[prints:], session.functions[functions:]
    del session.warnings[warned:]
    session.instances = instances
    session.ops, session.exhausted, session.trial = counted, exhausted, trial
    plan.types, plan.slots, plan.guarded, plan.changed = planned
    frame.bindings, frame.assigned, frame.gaps = bindings, assigned, gaps


def _copied(binding: Binding) -> Binding:
    parts = tuple(_copied(part) for part in binding.parts)
    return replace(binding, literals=[*binding.literals], parts=parts)
