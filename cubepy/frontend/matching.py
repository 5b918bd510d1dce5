"""`match`: cases become a chain of comparisons, each inside the `else` of the one before.

Patterns are values, alternatives, names, `_`, and sequences of these where the subject is a tuple.
A guard is looked at only where its pattern holds; names a pattern binds stay bound if it fails.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from cubepy.errors import CubeSyntaxError, CubeTypeError
from cubepy.frontend.coercion import Operand, as_condition
from cubepy.frontend.comparisons import compare
from cubepy.frontend.conditions import lower_condition
from cubepy.frontend.descriptions import describe
from cubepy.frontend.dispatch import lower_body, lower_expression, lowers_statement
from cubepy.frontend.frame import Assigned, Frame
from cubepy.frontend.values import Known, Poison, TupleValue, Value
from cubepy.frontend.variables import assign
from cubepy.ir import BOOL, Op, OpDef, Region, SlotType, ops

__all__: list[str] = []

Cases = Sequence[ast.match_case]
Arm = tuple[Assigned, Callable[[], None]]

_REFUSED: dict[type[ast.pattern], str] = {
    ast.MatchMapping: "mappings",
    ast.MatchClass: "classes",
    ast.MatchStar: "starred names",
}


@lowers_statement(ast.Match)
def lower_match(frame: Frame, node: ast.Match) -> None:
    """`match` on numbers, tuples of them and values known while compiling."""
    subject = Operand(lower_expression(frame, node.subject), node.subject)
    if not isinstance(subject.value, Poison):
        _cases(frame, subject, node.cases)


def _cases(frame: Frame, subject: Operand, cases: Cases) -> None:
    for number, case in enumerate(cases):
        condition = _test(frame, subject, case.pattern)
        if condition is False:
            continue
        rest = cases[number + 1 :]
        if condition is True:
            _certain(frame, subject, case, rest)
        elif case.guard is None:
            _possible(frame, condition, subject, case, rest)
        else:
            _guarded(frame, condition, case.guard, subject, case, rest)
        return


def _certain(frame: Frame, subject: Operand, case: ast.match_case, rest: Cases) -> None:
    """The pattern holds; all that is left to ask is its guard."""
    _bind(frame, subject, case)
    if case.guard is None:
        lower_body(frame, case.body)
        return
    holds, if_true, if_false = lower_condition(frame, case.guard)
    if isinstance(holds, bool):
        frame.assigned = if_true if holds else if_false
        if holds:
            lower_body(frame, case.body)
        else:
            _cases(frame, subject, rest)
        return
    taken = (if_true, lambda: lower_body(frame, case.body))
    _fork(frame, holds, taken, (if_false, lambda: _cases(frame, subject, rest)), case.guard)


def _possible(
    frame: Frame, condition: Op, subject: Operand, case: ast.match_case, rest: Cases
) -> None:
    def taken() -> None:
        _bind(frame, subject, case)
        lower_body(frame, case.body)

    start = frame.assigned
    _fork(frame, condition, (start, taken), (start, lambda: _cases(frame, subject, rest)),
          case.pattern)  # fmt: skip


def _guarded(
    frame: Frame, condition: Op, guard: ast.expr, subject: Operand, case: ast.match_case,
    rest: Cases,
) -> None:  # fmt: skip
    """A flag tells whether both hold: the guard runs inside the pattern's branch only."""
    flag = frame.append_to(
        frame.builder.current, ops.LOCAL, SlotType(BOOL), {"element": BOOL}, guard, name="holds"
    )
    frame.emit(ops.STORE_LOCAL, flag, frame.const(BOOL, False, guard), at=guard)
    start = frame.assigned
    with frame.branch() as opened:
        _bind(frame, subject, case)
        holds, if_true, if_false = lower_condition(frame, guard)
        made = frame.const(BOOL, holds, guard) if isinstance(holds, bool) else holds
        frame.emit(ops.STORE_LOCAL, flag, made, at=guard)
    frame.emit(ops.IF, condition, at=case.pattern, regions=(opened.close(), Region()))
    frame.merge([start, if_false], [("not assigned in this case", frame.loc(case.pattern))] * 2)
    otherwise = frame.assigned

    def taken() -> None:
        _bind(frame, subject, case)  # the first time was in a branch of its own
        lower_body(frame, case.body)

    both = frame.emit(ops.LOAD_LOCAL, flag, at=guard)
    _fork(frame, both, (if_true, taken), (otherwise, lambda: _cases(frame, subject, rest)), guard)


def _fork(frame: Frame, condition: Op, then: Arm, other: Arm, at: ast.AST) -> None:
    """An `if` of two pieces of code, each with what is assigned where it starts."""
    ends: list[Assigned] = []
    regions = []
    for start, lower in (then, other):
        frame.assigned = start
        with frame.branch() as opened:
            lower()
        ends.append(frame.assigned)
        regions.append(opened.close())
    frame.emit(ops.IF, condition, at=at, regions=tuple(regions))
    place = frame.loc(at)
    frame.merge(
        ends,
        [
            ("not assigned in this case", place),
            ("not assigned where this case does not hold", place),
        ],
    )


# ── patterns ─────────────────────────────────────────────────────────────────────────────────────


def _bind(frame: Frame, subject: Operand, case: ast.match_case) -> None:
    """Assign the names of a pattern, in the open region."""
    frame.enter(case)
    for pattern, value in _names(subject.value, case.pattern):
        assign(frame, frame.analysis.variables[pattern], value, pattern)


def _names(value: Value, pattern: ast.pattern) -> Iterator[tuple[ast.MatchAs, Value]]:
    """The names a pattern binds, with their values; alternatives all bind the same ones."""
    if isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None:
            yield from _names(value, pattern.pattern)
        if pattern.name is not None:
            yield pattern, value
    elif isinstance(pattern, ast.MatchOr):
        yield from _names(value, pattern.patterns[0])
    elif isinstance(pattern, ast.MatchSequence):
        for item, inner in zip(_items(value) or (), pattern.patterns, strict=False):
            yield from _names(item, inner)


def _items(value: Value) -> tuple[Value, ...] | None:
    if isinstance(value, TupleValue):
        return value.items
    if isinstance(value, Known) and isinstance(value.value, tuple):
        return tuple(Known(item, kept=value.kept) for item in value.value)
    return None


def _test(frame: Frame, subject: Operand, pattern: ast.pattern) -> Op | bool:
    """Whether a pattern holds, as far as that is known while compiling."""
    if isinstance(pattern, ast.MatchAs):
        return True if pattern.pattern is None else _test(frame, subject, pattern.pattern)
    if isinstance(pattern, ast.MatchOr):
        return _any(frame, subject, pattern)
    if isinstance(pattern, ast.MatchSequence):
        return _sequence(frame, subject, pattern)
    if isinstance(pattern, ast.MatchSingleton):
        if isinstance(subject.value, Known):
            return subject.value.value is pattern.value
        if pattern.value is None or getattr(subject.value, "type", None) != BOOL:
            return False  # only the object itself matches
        other = Operand(Known(pattern.value), pattern)
    elif isinstance(pattern, ast.MatchValue):
        other = Operand(lower_expression(frame, pattern.value), pattern.value)
    else:
        raise frame.error(
            CubeSyntaxError,
            f"kernels match no {_REFUSED.get(type(pattern), 'such pattern')}",
            pattern,
            "match values, alternatives with |, tuples of these, a name or _",
        )
    value = compare(frame, ast.Eq(), subject, other, pattern)
    return False if isinstance(value, Poison) else as_condition(frame, value, pattern)


def _any(frame: Frame, subject: Operand, pattern: ast.MatchOr) -> Op | bool:
    found: Op | bool = False
    for choice in pattern.patterns:
        part = _test(frame, subject, choice)
        if part is True or found is True:
            return True
        if isinstance(part, Op):
            found = _joined(frame, ops.BIT_OR, found, part, choice)
        if any(_names(subject.value, choice)) and isinstance(subject.value, TupleValue):
            raise frame.error(
                CubeSyntaxError, "alternatives that bind names to parts of a tuple", choice,
                "write a case for each",
            )  # fmt: skip
    return found


def _sequence(frame: Frame, subject: Operand, pattern: ast.MatchSequence) -> Op | bool:
    items = _items(subject.value)
    if items is None and isinstance(subject.value, Known):
        return False
    if items is None:
        raise frame.error(
            CubeTypeError,
            f"cannot match {describe(subject.value)} with a sequence",
            pattern,
            "match a tuple: match (a, b)",
        )
    for inner in pattern.patterns:
        if isinstance(inner, ast.MatchStar):
            _test(frame, subject, inner)  # raises
    if len(items) != len(pattern.patterns):
        return False
    every: Op | bool = True
    for item, inner in zip(items, pattern.patterns, strict=True):
        part = _test(frame, Operand(item, subject.node), inner)
        if part is False:
            return False
        if isinstance(part, Op):
            every = _joined(frame, ops.BIT_AND, every, part, inner)
    return every


def _joined(frame: Frame, row: OpDef, so_far: bool | Op, part: Op, at: ast.AST) -> Op:  # noqa: FBT001
    return frame.emit(row, so_far, part, at=at) if isinstance(so_far, Op) else part
