"""Two arms that each give a value become one value: by `select`, or by `if` and slots."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from cubepy.errors import CubeTypeError
from cubepy.frontend.choices import literals_of, note_choice, of_type
from cubepy.frontend.coercion import Operand, are_weak, bring, unify
from cubepy.frontend.descriptions import describe
from cubepy.frontend.frame import Binding, Frame
from cubepy.frontend.keys import comptime_key
from cubepy.frontend.names import Variable
from cubepy.frontend.promotion import literal_fits
from cubepy.frontend.retyping import note_store
from cubepy.frontend.values import (
    POISON,
    Group,
    Known,
    Poison,
    Value,
    as_array,
    is_number,
    same_kind,
    with_items,
)
from cubepy.ir import Op, OpenRegion, Scalar, SlotType, Trait, ops
from cubepy.records import dataclass

__all__ = ["Arm", "chosen", "is_cheap", "selected"]

_CHEAP_OPS = 16


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm that has been lowered: its region, its value, its expression."""

    region: OpenRegion
    value: Value
    node: ast.AST


def is_cheap(opened: OpenRegion) -> bool:
    """Whether a region may as well run always: few ops, nothing read but variables, no library."""
    return len(opened.ops) <= _CHEAP_OPS and all(
        (op.opdef.has(Trait.PURE) and not op.opdef.has(Trait.LIBRARY)) or op.opdef is ops.LOAD_LOCAL
        for op in opened.ops
    )


def chosen(frame: Frame, condition: Op, then: Arm, other: Arm, at: ast.AST) -> Value:
    """The value of one arm or the other."""
    if _is_poisoned(then.value) or _is_poisoned(other.value):
        return POISON
    pairs: list[tuple[Op, Op, Variable | None]] = []
    shape = _pair(frame, then, other, at, pairs)
    regions = (then.region, other.region)
    if all(is_cheap(region) for region in regions):
        for region in regions:
            frame.builder.current.ops.extend(region.ops)
        results = [frame.emit(ops.SELECT, condition, a, b, at=at) for a, b, _ in pairs]
    else:
        results = _through_slots(frame, condition, then, other, pairs, at)
    for result, (_, _, variable) in zip(results, pairs, strict=True):
        _note(frame, result, variable, at)
    return _assembled(shape, iter(results))


def _is_poisoned(value: Value) -> bool:
    """Whether a part of it comes from a complaint, or waits for lowering to begin again."""
    if isinstance(value, Group):
        return any(map(_is_poisoned, value.items))
    return isinstance(value, Poison)


def _pair(
    frame: Frame, then: Arm, other: Arm, at: ast.AST, pairs: list[tuple[Op, Op, Variable | None]]
) -> Value:
    """Bring the run-time parts of both arms together in `pairs`; gives the shape of the result.

    In the shape, POISON stands for a part that comes at run time.
    """
    a, b = then.value, other.value
    if isinstance(a, Group) and isinstance(b, Group) and same_kind(a, b):
        items = [
            _pair(
                frame, Arm(then.region, x, then.node), Arm(other.region, y, other.node), at, pairs
            )
            for x, y in zip(a.items, b.items, strict=True)
        ]
        return with_items(a, items)
    if a is b or _same(a, b):
        return a
    if not _is_value(a) or not _is_value(b):
        raise frame.error(
            CubeTypeError,
            f"a condition at run time cannot choose between {describe(a)} and {describe(b)}",
            at,
            "choose while compiling, or use the values inside the arms: "
            + ("x[i] if … else y[i]" if as_array(a) or as_array(b) else "f(v) if … else g(v)"),
        )
    pairs.append(_typed_pair(frame, then, other, at, len(pairs)))
    return POISON


def selected(frame: Frame, condition: Op, a: Operand, b: Operand, at: ast.AST) -> Op:
    """`cb.select`: both values are there already."""
    here = frame.builder.current
    arms = (Arm(here, a.value, a.node), Arm(here, b.value, b.node))
    lhs, rhs, variable = _typed_pair(frame, *arms, at, 0)
    result = frame.emit(ops.SELECT, condition, lhs, rhs, at=at)
    _note(frame, result, variable, at)
    return result


def _same(a: Value, b: Value) -> bool:
    if not isinstance(a, Known) or not isinstance(b, Known):
        return False
    return comptime_key(a.value) == comptime_key(b.value)


def _is_value(value: Value) -> bool:
    return is_number(value) or (isinstance(value, Op) and isinstance(value.type, Scalar))


def _typed_pair(
    frame: Frame, then: Arm, other: Arm, at: ast.AST, number: int
) -> tuple[Op, Op, Variable | None]:
    operands = (Operand(then.value, then.node), Operand(other.value, other.node))
    with frame.branch():  # only to learn the type; the ops go nowhere
        target = unify(frame, operands, at, "choose between")[0].type
    assert isinstance(target, Scalar)
    variable = _literal_variable(frame, at, number, operands, target)
    if variable is not None:
        target = frame.bindings[variable].type or target
    made: list[Op] = []
    weak = are_weak(frame, operands)
    for arm, operand in zip((then, other), operands, strict=True):
        with frame.builder.reopen(arm.region):
            inner = operand.value if isinstance(operand.value, Op) else None
            again = None if inner is None else of_type(frame, inner, target, operand.node)
            made.append(again or bring(frame, operand, target, weak=weak))
    return made[0], made[1], variable


def _literal_variable(
    frame: Frame, at: ast.AST, number: int, operands: Sequence[Operand], target: Scalar
) -> Variable | None:
    """Two literals make a value that is soft like a local begun by a literal.

    `number`: which part of the whole choice they are.
    """
    found = [literals_of(frame, operand.value, operand.node) for operand in operands]
    if not all(found):
        return None
    whole = frame.analysis.variables.setdefault(at, Variable("a choice of literals", -1))
    variable = frame.analysis.part(whole, number)
    literals = [value for values in found for value in values]
    planned = frame.plan.types.get(variable, target)
    type = planned if all(literal_fits(value, planned) for value in literals) else target
    frame.bindings[variable] = Binding(frame.loc(at), type=type, soft=True, literals=literals)
    return variable


def _note(frame: Frame, result: Op, variable: Variable | None, at: ast.AST) -> None:
    """What is chosen from literals alone is as weak as they are."""
    if variable is not None:
        frame.soft[result] = variable
        note_choice(frame, result, at, frame.bindings[variable].literals)


def _through_slots(
    frame: Frame,
    condition: Op,
    then: Arm,
    other: Arm,
    pairs: list[tuple[Op, Op, Variable | None]],
    at: ast.AST,
) -> list[Op]:
    slots: list[Op] = []
    for a, b, _ in pairs:
        assert isinstance(a.type, Scalar)
        slot = frame.append_to(
            frame.builder.current, ops.LOCAL, SlotType(a.type), {"element": a.type}, at
        )
        for arm, value in ((then, a), (other, b)):
            with frame.builder.reopen(arm.region):
                frame.emit(ops.STORE_LOCAL, slot, value, at=at)
                note_store(frame, slot, value)
        slots.append(slot)
    regions = (then.region.close(), other.region.close())
    frame.emit(ops.IF, condition, at=at, regions=regions)
    return [frame.emit(ops.LOAD_LOCAL, slot, at=at) for slot in slots]


def _assembled(shape: Value, results: Iterator[Op]) -> Value:
    if isinstance(shape, Poison):
        return next(results)
    if isinstance(shape, Group):
        return with_items(shape, [_assembled(item, results) for item in shape.items])
    return shape
