"""What helpers return: every `return` gives the same parts, brought to common types."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from cubepy.errors import CubeTypeError
from cubepy.frontend.coercion import as_type, typed
from cubepy.frontend.descriptions import counted, describe
from cubepy.frontend.frame import Frame
from cubepy.frontend.keys import comptime_key
from cubepy.frontend.promotion import default_type, literal_type, promote
from cubepy.frontend.values import (
    NONE,
    Group,
    Known,
    Skeleton,
    Value,
    as_array,
    flatten,
    holds_poison,
    is_number,
    same_kind,
    with_items,
)
from cubepy.ir import F32, Op, Scalar, ops

__all__ = ["finish_results", "give_back", "result_skeleton"]


def give_back(frame: Frame, value: Value, at: ast.AST) -> None:
    """Lower `return value` of a helper."""
    returns = frame.returns
    assert returns is not None
    if holds_poison(value):
        frame.assigned = None
        return
    leaves = list(_leaves(frame, value, at, single=returns.single and frame.plan.results is None))
    if returns.shape is None:
        returns.shape = value
    elif not _alike(returns.shape, value):
        raise frame.error(
            CubeTypeError,
            f"returns {describe(value)} here and {describe(returns.shape)} elsewhere",
            at,
            "return the same number of values on every path",
        )
    wanted = frame.plan.results
    if wanted is not None and len(wanted) != len(leaves):
        raise frame.error(
            CubeTypeError,
            f"returns {counted(len(leaves), 'value')}, its annotation says {len(wanted)}",
            at,
            "annotate several as -> tuple[f32, i32], or leave the annotation out",
        )
    given = at.value if isinstance(at, ast.Return) and at.value is not None else at
    made = [
        typed(frame, leaf, at) if wanted is None
        else as_type(frame, leaf, wanted[number], given, what="the result")
        for number, leaf in enumerate(leaves)
    ]  # fmt: skip
    returns.leaves.append(tuple(leaves))
    if made or not returns.single or not _at_end(frame):
        frame.emit(ops.RETURN, *made, at=at)
    frame.assigned = None


def _at_end(frame: Frame) -> bool:
    """Whether this is the function's own region, so that a bare return at its end is not needed."""
    return frame.builder.current is frame.regions[0]


def _leaves(frame: Frame, value: Value, at: ast.AST, *, single: bool) -> Iterator[Value]:
    """The parts of a result that are handed over at run time."""
    if isinstance(value, Group):
        for item in value.items:
            yield from _leaves(frame, item, at, single=single)
    elif as_array(value) is not None:
        raise frame.error(
            CubeTypeError,
            "a function cannot return an array",
            at,
            "make the array in the caller and pass it in",
        )
    elif isinstance(value, Op) or (is_number(value) and not single):
        yield value


def _alike(first: Value, second: Value) -> bool:
    if isinstance(first, Group) and isinstance(second, Group):
        return same_kind(first, second) and all(
            _alike(a, b) for a, b in zip(first.items, second.items, strict=True)
        )
    if _is_part(first) or _is_part(second):
        return _is_part(first) and _is_part(second)
    if isinstance(first, Known) and isinstance(second, Known):
        return comptime_key(first.value) == comptime_key(second.value)
    return first is second


def _is_part(value: Value) -> bool:
    return is_number(value) or isinstance(value, Op)


def finish_results(frame: Frame) -> None:
    """Find the common types of all returns; tells the plan if some return must convert."""
    returns = frame.returns
    assert returns is not None
    if frame.reachable and returns.shape is not None and not _is_none(returns.shape):
        raise frame.error(
            CubeTypeError,
            f"{frame.name} does not return a value on every path",
            frame.node,
            "add a return at its end",
        )
    if frame.reachable and returns.shape is None:
        returns.shape = NONE
    if frame.plan.results is not None or not returns.leaves or frame.plan.changed:
        return
    columns = list(zip(*returns.leaves, strict=True))
    natural = [[_natural(leaf) for leaf in column] for column in columns]
    if all(len(set(types)) == 1 for types in natural):
        return
    frame.plan.results = tuple(_common(frame, column) for column in columns)
    frame.plan.changed = True


def _is_none(value: Value) -> bool:
    return isinstance(value, Known) and value.value is None


def _natural(leaf: Value) -> Scalar:
    if isinstance(leaf, Op):
        assert isinstance(leaf.type, Scalar)
        return leaf.type
    assert isinstance(leaf, Known)
    return default_type(leaf.value) or F32


def _common(frame: Frame, column: tuple[Value, ...]) -> Scalar:
    """The type in which the results of several returns meet."""
    common: Scalar | None = None
    for leaf in column:
        if isinstance(leaf, Op):
            type = _natural(leaf)
            joined = type if common is None else promote(common, type)
            if joined is None:
                raise frame.error(
                    CubeTypeError,
                    f"{frame.name} returns {common} on one path and {type} on another",
                    frame.node,
                    f"convert one of them, for example {common}(…)",
                )
            common = joined
    for leaf in column:
        if isinstance(leaf, Known):
            own = _natural(leaf)
            common = own if common is None else literal_type(leaf.value, common) or own
    assert common is not None
    return common


def result_skeleton(frame: Frame) -> Skeleton:
    """The value a call gives, its run-time parts by type."""
    returns = frame.returns
    assert returns is not None
    shape = NONE if returns.shape is None else returns.shape
    types = iter(frame.plan.results or [_natural(leaf) for leaf in (returns.leaves or [()])[0]])
    keep = returns.single and frame.plan.results is None
    return _typed_skeleton(shape, types, keep=keep)


def _typed_skeleton(shape: Value, types: Iterator[Scalar], *, keep: bool) -> Skeleton:
    if isinstance(shape, Group):
        parts = tuple(_typed_skeleton(item, types, keep=keep) for item in shape.items)
        key = (*shape.key, *(part.key for part in parts))
        return Skeleton(key, parts=parts, make=lambda items: with_items(shape, items))
    if isinstance(shape, Op) or (is_number(shape) and not keep):
        type = next(types)
        return Skeleton(("op", type), type=type)
    skeleton, _ = flatten(shape)
    return skeleton
