"""Loops: `while`, `for` over `range` at run time, and loops unrolled while compiling.

An unrolled loop is its body again and again. Where a run-time condition may `break` or `continue`,
each repetition stands in a loop of one trip, which those leave, and a flag remembers the `break`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from cubepy.errors import ComptimeError, CubeSyntaxError, CubeTypeError, CubeValueError
from cubepy.frontend.comptime import UNKNOWN_VALUE, comptime_value, from_python, known_value
from cubepy.frontend.conditions import lower_condition
from cubepy.frontend.descriptions import describe, snippet
from cubepy.frontend.dispatch import (
    lower_body,
    lower_comptime,
    lower_expression,
    lowers_statement,
)
from cubepy.frontend.frame import Assigned, Frame, Loop
from cubepy.frontend.lang import Intrinsic
from cubepy.frontend.ranges import counting_of, told_of_range
from cubepy.frontend.session import MAXIMUM_TRIPS
from cubepy.frontend.statements import assign_target
from cubepy.frontend.values import (
    Known,
    Poison,
    Value,
    as_array,
    items_in_order,
    kept,
)
from cubepy.ir import BOOL, INDEX, Op, Region, Scalar, SlotType, ops, param

__all__: list[str] = []


def _has_own(body: Sequence[ast.stmt], kind: type[ast.stmt]) -> bool:
    """Whether a loop body has a `break` or `continue` of this very loop."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, kind):
            return True
        if isinstance(node, ast.For | ast.While):
            pending.extend(node.orelse)  # a break there belongs to the loop around
        elif not isinstance(node, ast.FunctionDef | ast.expr):
            pending.extend(ast.iter_child_nodes(node))
    return False


def _flag(frame: Frame, at: ast.AST) -> Op:
    """A slot that tells whether the loop was left by `break`."""
    slot = frame.append_to(
        frame.builder.current, ops.LOCAL, SlotType(BOOL), {"element": BOOL}, at, name="left"
    )
    frame.emit(ops.STORE_LOCAL, slot, frame.const(BOOL, False, at), at=at)
    return slot


def _unless(frame: Frame, flag: Op, at: ast.AST, run: Callable[[], None], reason: str) -> None:
    """`if not flag: run()`."""
    left = frame.emit(ops.LOAD_LOCAL, flag, at=at)
    start = frame.assigned
    with frame.branch() as opened:
        run()
    frame.emit(ops.IF, left, at=at, regions=(Region(), opened.close()))
    frame.merge([start, frame.assigned], [(reason, frame.loc(at))] * 2)


def _finish(frame: Frame, loop: Loop, normal: Assigned, node: ast.While | ast.For) -> None:
    """What follows a loop: its `else`, unless a `break` left it."""
    place = frame.loc(node)
    reasons = [("not assigned where the loop ends by itself", place)]
    reasons += [("not assigned where `break` leaves the loop", place)] * len(loop.ends)
    if not node.orelse or loop.flag is None or not loop.ends:  # no `break` that can be reached
        frame.assigned = normal
        if node.orelse and normal is not None:
            lower_body(frame, node.orelse)
        frame.merge([frame.assigned, *loop.ends], reasons)
        return
    left = frame.emit(ops.LOAD_LOCAL, loop.flag, at=node)
    frame.assigned = normal
    with frame.branch() as opened:
        if normal is not None:
            lower_body(frame, node.orelse)
    frame.emit(ops.IF, left, at=node, regions=(Region(), opened.close()))
    frame.merge([frame.assigned, *loop.ends], reasons)


# ── at run time ──────────────────────────────────────────────────────────────────────────────────


@lowers_statement(ast.While)
def lower_while(frame: Frame, node: ast.While) -> None:
    """`while`, with `else`."""
    loop = Loop(node)
    if node.orelse and _has_own(node.body, ast.Break):
        loop.flag = _flag(frame, node)
    with frame.branch() as test:
        condition, if_true, if_false = lower_condition(frame, node.test)
        known = condition if isinstance(condition, bool) else None
        made = frame.const(BOOL, condition, node.test) if isinstance(condition, bool) else condition
        frame.emit(ops.YIELD, made, at=node.test)
    if known is False:
        frame.assigned = if_false
        if node.orelse:
            lower_body(frame, node.orelse)
        return
    frame.assigned = if_true
    with frame.branch() as body:
        _body(frame, loop, node.body)
    frame.emit(ops.WHILE, at=node, regions=(test.close(), body.close()))
    _note_zero_trips(frame, if_false, node)
    _finish(frame, loop, None if known else if_false, node)


def _body(frame: Frame, loop: Loop, body: Sequence[ast.stmt]) -> None:
    frame.loops.append(loop)
    try:
        lower_body(frame, body)
    finally:
        frame.loops.pop()


@lowers_statement(ast.For)
def lower_for(frame: Frame, node: ast.For) -> None:
    """`for`: over `range` at run time, over anything known while compiling by unrolling."""
    call = node.iter
    if isinstance(call, ast.Call):
        callee = lower_expression(frame, call.func)
        if isinstance(callee, Known) and callee.value is range:
            _range_loop(frame, node, call)
            return
        if isinstance(callee, Known) and callee.value == Intrinsic("unroll"):
            _unroll_call(frame, node, call)
            return
    try:
        value = lower_expression(frame, call)
    except ComptimeError as error:
        raise told_of_range(error, call) from error
    if isinstance(value, Poison):
        return
    _unrolled_loop(frame, node, _items(frame, value, call))


def _items(frame: Frame, value: Value, at: ast.expr) -> list[Value]:
    """The elements of what an unrolled loop runs over."""
    found = items_in_order(value)
    if found is not None:
        return list(found)
    if isinstance(value, Known) and hasattr(value.value, "__iter__"):
        items = []
        for number, item in enumerate(value.value):
            if number >= MAXIMUM_TRIPS:
                raise _too_many(frame, at)
            items.append(from_python(frame, item, at))
        return items
    raise frame.error(
        CubeTypeError,
        f"cannot loop over {describe(value)}",
        at,
        f"write for i in range(len({snippet(at)}))" if as_array(value) is not None
        else f"write for i in range({snippet(at)})" if _counts(value)
        else "loop over range(…), a tuple or cb.unroll(range(…))",
    )  # fmt: skip


def _counts(value: Value) -> bool:
    """Whether a value is a number of trips."""
    if isinstance(value, Known):
        return isinstance(value.value, int)
    return isinstance(value, Op) and isinstance(value.type, Scalar) and value.type.is_integer


def _too_many(frame: Frame, at: ast.AST) -> Exception:
    return frame.error(
        CubeValueError,
        f"the loop would be unrolled more than {MAXIMUM_TRIPS:,} times",
        at,
        "use range without cb.unroll",
    )


def _range_loop(frame: Frame, node: ast.For, call: ast.Call) -> None:
    counting = counting_of(frame, call)
    if counting is None:
        return
    if not isinstance(node.target, ast.Name):
        raise frame.error(
            CubeSyntaxError, "range gives one number at a time", node.target, "write one name"
        )
    loop = Loop(node)
    if node.orelse and _has_own(node.body, ast.Break):
        loop.flag = _flag(frame, node)
    start = frame.assigned
    variable = param(node.target.id, counting.bounds[0].type, frame.loc(node.target))
    with frame.branch(variable) as body:
        frame.enter(node.body)
        assign_target(frame, node.target, counting.value(variable), node.target)
        _body(frame, loop, node.body)
    frame.emit(ops.FOR, *counting.bounds, at=node, regions=(body.close(),))
    _note_zero_trips(frame, start, node)
    _finish(frame, loop, start, node)


def _note_zero_trips(frame: Frame, start: Assigned, node: ast.While | ast.For) -> None:
    """Why what a loop assigns need not be assigned after it."""
    for variable in (frame.assigned or frozenset()) - (start or frozenset()):
        frame.gaps[variable] = ("not assigned where this loop runs zero times", frame.loc(node))


# ── unrolled ─────────────────────────────────────────────────────────────────────────────────────


def _unroll_call(frame: Frame, node: ast.For, call: ast.Call) -> None:
    """`cb.unroll(range(…))`, `cb.unroll(items, when=condition)`."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if len(call.args) != 1 or set(keywords) - {"when"}:
        raise frame.error(CubeTypeError, "cb.unroll takes what to loop over, and when=", call,
                          "of two loops write one below the other")  # fmt: skip
    inner = call.args[0]
    if "when" in keywords:
        when = comptime_value(frame, lower_expression(frame, keywords["when"]), keywords["when"],
                              "when= of cb.unroll")  # fmt: skip
        if not when:
            assert isinstance(inner, ast.Call)
            _range_loop(frame, node, inner)
            return
    if isinstance(inner, ast.Call):
        callee = lower_expression(frame, inner.func)
        if isinstance(callee, Known) and callee.value is range:
            _unrolled_loop(frame, node, _unrolled_range(frame, inner))
            return
    value = lower_comptime(frame, inner)
    if not isinstance(value, Poison):
        _unrolled_loop(frame, node, _items(frame, value, inner))


def _unrolled_range(frame: Frame, call: ast.Call) -> list[Value]:
    numbers: list[Any] = []
    for argument in call.args:
        value = lower_comptime(frame, argument)
        found = known_value(frame, value, plane=True)
        if found is UNKNOWN_VALUE or not isinstance(found, int):
            raise frame.error(
                ComptimeError,
                "cb.unroll needs bounds known while compiling",
                argument,
                "use a literal, a captured constant or a Comptime parameter, or plain range",
            )
        numbers.append(found)
    try:
        trips = range(*numbers)
    except (TypeError, ValueError) as error:
        raise frame.error(
            CubeValueError, str(error), call, "write cb.unroll(range(start, stop, step))"
        ) from error
    if trips[MAXIMUM_TRIPS:]:  # len() of a long range overflows
        raise _too_many(frame, call)
    return [Known(number) for number in trips]


def _unrolled_loop(frame: Frame, node: ast.For, items: list[Value]) -> None:
    if len(items) > MAXIMUM_TRIPS:
        raise _too_many(frame, node.iter)
    if node in frame.plan.guarded:
        _guarded_loop(frame, node, items)
        return
    loop = Loop(node, region=frame.builder.current, unrolled=True)
    for item in items:
        loop.left = ""
        _enter_body(frame, node, item)
        _body(frame, loop, node.body)
        if loop.left:
            frame.assigned = loop.ends.pop()
        if loop.left == "break" or not frame.reachable:
            break
    if node.orelse and frame.reachable and loop.left != "break":
        lower_body(frame, node.orelse)


def _enter_body(frame: Frame, node: ast.For, item: Value) -> None:
    frame.enter(node.body)
    assign_target(frame, node.target, kept(item), node.iter)


def _guarded_loop(frame: Frame, node: ast.For, items: list[Value]) -> None:
    """Unrolled, with a way out of each repetition."""
    loop = Loop(node, unrolled=True, guarded=True)
    if _has_own(node.body, ast.Break):
        loop.flag = _flag(frame, node)
    for number, item in enumerate(items):
        if number == 0 or loop.flag is None:
            _repetition(frame, loop, node, item)
        else:
            _unless(frame, loop.flag, node, _repeat(frame, loop, node, item),
                    "not assigned where `break` leaves the loop")  # fmt: skip
    if node.orelse and loop.flag is not None:
        _unless(frame, loop.flag, node, lambda: lower_body(frame, node.orelse),
                "not assigned where `break` leaves the loop")  # fmt: skip
    elif node.orelse:
        lower_body(frame, node.orelse)


def _repeat(frame: Frame, loop: Loop, node: ast.For, item: Value) -> Callable[[], None]:
    return lambda: _repetition(frame, loop, node, item)


def _repetition(frame: Frame, loop: Loop, node: ast.For, item: Value) -> None:
    """The body in a loop of one trip."""
    start = frame.assigned
    loop.ends.clear()
    once = param("_", INDEX, frame.loc(node))
    with frame.branch(once) as opened:
        loop.region = opened
        _enter_body(frame, node, item)
        _body(frame, loop, node.body)
    bounds = [frame.const(INDEX, number, node) for number in (0, 1, 1)]
    frame.emit(ops.FOR, *bounds, at=node, regions=(opened.close(),))
    reason = ("not assigned where the loop is left early", frame.loc(node))
    ends = [frame.assigned, *loop.ends]
    if all(end is None for end in ends):
        frame.assigned = start
        return
    frame.merge(ends, [reason] * len(ends))


# ── leaving ──────────────────────────────────────────────────────────────────────────────────────


@lowers_statement(ast.Break)
def lower_break(frame: Frame, node: ast.Break) -> None:
    """`break`."""
    _leave(frame, node, "break")


@lowers_statement(ast.Continue)
def lower_continue(frame: Frame, node: ast.Continue) -> None:
    """`continue`."""
    _leave(frame, node, "continue")


def _leave(frame: Frame, node: ast.Break | ast.Continue, how: str) -> None:
    loop = frame.loops[-1]  # Python's own parser refuses one outside a loop
    if loop.unrolled and not loop.guarded:
        if frame.builder.current is not loop.region:
            frame.plan.guarded.add(loop.node)
            frame.plan.changed = True
        loop.left = how
        loop.ends.append(frame.assigned)
        frame.assigned = None
        return
    if how == "break" and loop.flag is not None:
        frame.emit(ops.STORE_LOCAL, loop.flag, frame.const(BOOL, True, node), at=node)
    if how == "break" or loop.guarded:
        loop.ends.append(frame.assigned)
    frame.emit(ops.BREAK if how == "break" or loop.guarded else ops.CONTINUE, at=node)
    frame.assigned = None
