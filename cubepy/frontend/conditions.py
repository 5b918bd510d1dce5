"""Conditions: comparisons and their chains, `and`, `or`, `not`, and the values they choose between.

What may not be evaluated stands in an arm of its own; what costs nothing is evaluated in any case.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from cubepy.frontend.branches import Arm, chosen, is_cheap
from cubepy.frontend.coercion import Operand, as_condition
from cubepy.frontend.comparisons import compare
from cubepy.frontend.comptime import UNKNOWN_VALUE, known_value
from cubepy.frontend.dispatch import lower_expression, lowers_expression
from cubepy.frontend.frame import Assigned, Frame
from cubepy.frontend.precedence import bare_bitwise, explained
from cubepy.frontend.trials import typed_beside
from cubepy.frontend.values import POISON, Known, Poison, Value
from cubepy.ir import BOOL, Op, OpenRegion, Region, SlotType, Trait, ops

__all__ = ["Condition", "lower_condition"]

Condition = tuple[Op | bool, Assigned, Assigned]


@lowers_expression(ast.Compare)
def lower_comparison(frame: Frame, node: ast.Compare) -> Value:
    """`a < b`, or a chain: the middle is evaluated once, the rest only if it holds so far."""
    tight = bare_bitwise(frame.source.text, node)
    if tight is not None:
        with explained(frame, node, tight):
            return _compared(frame, node)
    return _compared(frame, node)


def _compared(frame: Frame, node: ast.Compare) -> Value:
    left = Operand(lower_expression(frame, node.left), node.left)
    links: list[Callable[[], Value]] = []

    def link(operation: ast.cmpop, right_node: ast.expr) -> Callable[[], Value]:
        def run() -> Value:
            nonlocal left
            right = Operand(lower_expression(frame, right_node), right_node)
            result = compare(frame, operation, left, right, node)
            left = right
            return result

        return run

    for operation, right_node in zip(node.ops, node.comparators, strict=True):
        links.append(link(operation, right_node))
    if len(links) == 1:
        return links[0]()
    return _chained(frame, links, node)


def _chained(frame: Frame, links: Sequence[Callable[[], Value]], node: ast.Compare) -> Value:
    """The comparisons of a chain, each inside the one before, whose right side it shares."""
    first = links[0]()
    if len(links) == 1 or isinstance(first, Poison):
        return first
    condition = _decided(frame, first, node)
    if isinstance(condition, bool):
        return _chained(frame, links[1:], node) if condition else Known(False)
    opened = OpenRegion()
    with frame.builder.reopen(opened):
        rest = _chained(frame, links[1:], node)
        if isinstance(rest, Poison):
            return POISON
        part = as_condition(frame, rest, node)
        made = frame.const(BOOL, part, node) if isinstance(part, bool) else part
    combined, _ = _combine(frame, condition, made, opened, None, node, conjunction=True)
    return combined


@lowers_expression(ast.BoolOp)
def lower_boolean(frame: Frame, node: ast.BoolOp) -> Value:
    """`and`, `or`: the right side is evaluated only if the left one leaves the answer open."""
    value, always, _ = _boolean(frame, node)
    frame.assigned = always
    return value


def _boolean(frame: Frame, node: ast.BoolOp) -> tuple[Value, Assigned, Assigned]:
    links = [_link(frame, value) for value in node.values]
    conjunction = isinstance(node.op, ast.And)
    return _short_circuit(frame, links, node.values, node, conjunction=conjunction)


def _link(frame: Frame, node: ast.expr) -> Callable[[], Value]:
    return lambda: lower_expression(frame, node)


def _short_circuit(
    frame: Frame,
    links: Sequence[Callable[[], Value]],
    nodes: Sequence[ast.expr],
    at: ast.expr,
    *,
    conjunction: bool,
) -> tuple[Value, Assigned, Assigned]:
    """The value; what is assigned in any case, and what if every link was evaluated."""
    so_far: Op | None = None
    slot: Op | None = None
    always: Assigned = frame.assigned
    last: Value = Known(conjunction)
    for evaluate, node in zip(links, nodes, strict=True):
        opened = OpenRegion()
        with frame.builder.reopen(frame.builder.current if so_far is None else opened):
            value = evaluate()
            part = POISON if isinstance(value, Poison) else _decided(frame, value, node)
        if so_far is None:
            always = frame.assigned
        if isinstance(part, Poison):
            return POISON, always, frame.assigned
        if isinstance(part, bool) and all(op.opdef.has(Trait.PURE) for op in opened.ops):
            last = value
            if part != conjunction:
                return (value if so_far is None else Known(part)), always, frame.assigned
            continue
        if isinstance(part, bool):  # a walrus on the way is seen only where the links before hold
            with frame.builder.reopen(opened):
                part = frame.const(BOOL, part, node)
        if so_far is None:
            so_far = part
        else:
            so_far, slot = _combine(frame, so_far, part, opened, slot, at, conjunction=conjunction)
    return (last if so_far is None else so_far), always, frame.assigned


def _splice(frame: Frame, opened: OpenRegion) -> None:
    """Make the ops of a region part of the one around it."""
    frame.builder.current.ops.extend(opened.ops)
    frame.builder.current.known.update(opened.known)


def _combine(
    frame: Frame,
    so_far: Op,
    part: Op,
    opened: OpenRegion,
    slot: Op | None,
    at: ast.AST,
    *,
    conjunction: bool,
) -> tuple[Op, Op | None]:
    """The next link: a plain `&` or `|` where evaluating it always costs and changes nothing."""
    if is_cheap(opened):
        _splice(frame, opened)
        row = ops.BIT_AND if conjunction else ops.BIT_OR
        return frame.emit(row, so_far, part, at=at), slot
    if slot is None:
        slot = frame.append_to(
            frame.builder.current, ops.LOCAL, SlotType(BOOL), {"element": BOOL}, at
        )
    frame.emit(ops.STORE_LOCAL, slot, so_far, at=at)
    with frame.builder.reopen(opened):
        frame.emit(ops.STORE_LOCAL, slot, part, at=at)
    regions = (opened.close(), Region()) if conjunction else (Region(), opened.close())
    frame.emit(ops.IF, so_far, at=at, regions=regions)
    return frame.emit(ops.LOAD_LOCAL, slot, at=at), slot


def lower_condition(frame: Frame, node: ast.expr) -> Condition:
    """A condition, and what is assigned where it holds and where it does not."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner, if_true, if_false = lower_condition(frame, node.operand)
        if isinstance(inner, bool):
            return not inner, if_false, if_true
        return frame.emit(ops.BIT_NOT, inner, at=node), if_false, if_true
    if isinstance(node, ast.BoolOp):
        value, always, through = _boolean(frame, node)
        both = (through, always) if isinstance(node.op, ast.And) else (always, through)
    else:
        value = lower_expression(frame, node)
        both = (frame.assigned, frame.assigned)
    if isinstance(value, Poison):
        return True, *both
    return _decided(frame, value, node), *both


def _decided(frame: Frame, value: Value, at: ast.AST) -> Op | bool:
    """A condition; a bool also where it is computed from what is known while compiling."""
    condition = as_condition(frame, value, at)
    if isinstance(condition, bool):
        return condition
    known = known_value(frame, condition)
    return condition if known is UNKNOWN_VALUE else bool(known)


@lowers_expression(ast.IfExp)
def lower_conditional(frame: Frame, node: ast.IfExp) -> Value:
    """`a if c else b`: only the arm it takes is evaluated."""
    condition, if_true, if_false = lower_condition(frame, node.test)
    if isinstance(condition, bool):
        taken, other = (node.body, node.orelse)[:: 1 if condition else -1]
        start, elsewhere = (if_true, if_false)[:: 1 if condition else -1]
        frame.assigned = start
        value = lower_expression(frame, taken)
        return typed_beside(frame, value, taken, other, elsewhere)
    arms: list[Arm] = []
    ends: list[Assigned] = []
    for arm, start in ((node.body, if_true), (node.orelse, if_false)):
        frame.assigned = start
        with frame.branch() as opened:
            arms.append(Arm(opened, lower_expression(frame, arm), arm))
        ends.append(frame.assigned)
    place = frame.loc(node)
    frame.merge(ends, [("not where this is true", place), ("not where this is false", place)])
    return chosen(frame, condition, arms[0], arms[1], node)
