"""Vectors in kernels: a group of N values of one type, which the IR sees as N scalars.

So every pass and every target has them without knowing of them, and a CPU's registers hold one
element of many units rather than many elements of one. Functions and operators are applied element
by element; a scalar beside a vector goes with each element.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cubepy.errors import CubeNameError, CubeTypeError, CubeValueError, shown
from cubepy.frontend.annotations import annotation_of
from cubepy.frontend.calls import (
    Call,
    calls_classes,
    cast,
    lowers_intrinsic,
    required,
    wraps_calls,
)
from cubepy.frontend.coercion import Operand, as_index, as_type, unify
from cubepy.frontend.comparisons import compare, compares_groups
from cubepy.frontend.comptime import UNKNOWN_VALUE, known_value
from cubepy.frontend.descriptions import describe, snippet
from cubepy.frontend.expressions import reads_attributes
from cubepy.frontend.fitting import opened
from cubepy.frontend.frame import Frame
from cubepy.frontend.intrinsics import elementwise_rows
from cubepy.frontend.items import slices_groups, subscripts_groups
from cubepy.frontend.operators import Operation, binary, overloads_operators, unary
from cubepy.frontend.scalars import class_of
from cubepy.frontend.values import Known, TupleValue, Value, VectorValue, with_items
from cubepy.frontend.vector_types import HostVector, is_count, lengths
from cubepy.ir import INDEX, Op, ops

__all__ = ["vector_of", "vector_value"]


def vector_value(frame: Frame, value: Value, at: ast.AST) -> VectorValue | None:
    """A vector, one known while compiling among them; None for other values."""
    if isinstance(value, Known) and isinstance(value.value, HostVector):
        value = opened(frame, value, at)
    return value if isinstance(value, VectorValue) else None


def vector_of(frame: Frame, operands: Sequence[Operand], at: ast.AST) -> VectorValue:
    """A vector of these elements, brought to one type."""
    if not is_count(len(operands)):
        raise frame.error(
            CubeValueError,
            f"a vector of {len(operands)} elements",
            at,
            lengths(len(operands)),
        )
    return VectorValue(tuple(unify(frame, operands, at, "put together")))


# ── building ─────────────────────────────────────────────────────────────────────────────────────


@calls_classes
def build(frame: Frame, target: Any, call: Call) -> Value | None:
    """`Vector[f32, 4](a, b, c, d)`, or of one number for all; each is cast."""
    annotation = annotation_of(target)
    if annotation.kind != "vector":
        return None
    element = annotation.element
    if annotation.variable is not None:
        element = frame.generics.get(annotation.variable.__name__)
    if element is None or call.keywords:
        raise frame.error(
            CubeTypeError, f"{call.name} needs a type and elements", call.node,
            f"write Vector[f32, {annotation.count}](…), elements by position",
        )  # fmt: skip
    operands = _elements(frame, call.positional)
    if len(operands) == 1:
        operands *= annotation.count
    if len(operands) != annotation.count:
        raise frame.error(
            CubeTypeError,
            f"{call.name} has {annotation.count} elements, got {len(operands)}",
            call.node,
            "give one number for all, or one for each",
        )
    items = [cast(frame, element, operand, operand.node) for operand in operands]
    return VectorValue(tuple(items))


def _elements(frame: Frame, operands: Sequence[Operand]) -> list[Operand]:
    """Operands, with vectors and tuples taken apart."""
    found: list[Operand] = []
    for operand in operands:
        value = opened(frame, operand.value, operand.node)
        if isinstance(value, VectorValue | TupleValue):
            found += _elements(frame, [Operand(item, operand.node) for item in value.items])
        else:
            found.append(operand)
    return found


@lowers_intrinsic("vector")
def lower_vector(frame: Frame, call: Call) -> Value:
    """`cb.vector(a, b, …)`: of the type that its elements have in common."""
    if call.keywords or not call.positional:
        raise frame.error(
            CubeTypeError, "cb.vector takes its elements", call.node, "write cb.vector(a, b, …)"
        )
    return vector_of(frame, _elements(frame, call.positional), call.node)


# ── element by element ───────────────────────────────────────────────────────────────────────────


def _count(frame: Frame, vectors: Sequence[VectorValue], at: ast.AST, verb: str) -> int:
    counts = {len(vector.items) for vector in vectors}
    if len(counts) > 1:
        first = vectors[0]
        other = next(vector for vector in vectors if len(vector.items) != len(first.items))
        raise frame.error(
            CubeTypeError, f"cannot {verb} {describe(first)} and {describe(other)}", at,
            "both need the same number of elements",
        )  # fmt: skip
    return counts.pop()


def _lanes(
    frame: Frame, operands: Sequence[Operand], at: ast.AST, verb: str
) -> list[list[Operand]] | None:
    """The operands of each element; None if no vector is among them."""
    vectors = [vector_value(frame, operand.value, operand.node) for operand in operands]
    present = [vector for vector in vectors if vector is not None]
    if not present:
        return None
    count = _count(frame, present, at, verb)
    return [
        [
            operand if vector is None else Operand(vector.items[lane], operand.node)
            for operand, vector in zip(operands, vectors, strict=True)
        ]
        for lane in range(count)
    ]


def _collected(results: Sequence[Value]) -> Value:
    """The results of all elements as a vector; tuples of results as a tuple of vectors."""
    first = results[0]
    if isinstance(first, TupleValue):
        columns = zip(
            *(each.items for each in results if isinstance(each, TupleValue)), strict=True
        )
        return with_items(first, [_collected(column) for column in columns])
    return VectorValue(tuple(results))


@overloads_operators
def operate(
    frame: Frame, operation: Operation, left: Operand, right: Operand | None, at: ast.AST
) -> Value | None:
    """`a + b`, `-a` with vectors among the operands."""
    operands = [left] if right is None else [left, right]
    lanes = _lanes(frame, operands, at, _VERBS.get(type(operation), "compute with"))
    if lanes is None:
        return None
    if isinstance(operation, ast.unaryop):
        return _collected([unary(frame, operation, lane[0], at) for lane in lanes])
    return _collected([binary(frame, operation, lane[0], lane[1], at) for lane in lanes])


_VERBS: Mapping[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "divide",
}


@compares_groups
def compare_vectors(
    frame: Frame, operation: ast.cmpop, left: Operand, right: Operand, at: ast.AST
) -> Value | None:
    """`a < b` element by element: a vector of bools."""
    lanes = _lanes(frame, [left, right], at, "compare")
    if lanes is None:
        return None
    return _collected([compare(frame, operation, lane[0], lane[1], at) for lane in lanes])


_MAPPED = frozenset(
    {row.python for row in elementwise_rows()}
    | {"ln", "cast", "bitcast", "select", "clamp", "recip", "cdiv", "rotl", "rotr", "frexp"}
    | {"ldexp", "abs", "round", "pow", "cube_uniform"}
    | {f"plane_{name}" for name in ("sum", "prod", "min", "max", "broadcast", "shuffle")}
    | {f"plane_shuffle_{name}" for name in ("xor", "up", "down")}
    | {f"plane_{kind}_{name}" for kind in ("inclusive", "exclusive") for name in ("sum", "prod")}
)
_BUILTINS = frozenset({abs, round, pow, divmod, int, float, bool})


def _is_mapped(target: Any, call: Call) -> bool:
    """Whether a function is applied to vectors element by element."""
    name = getattr(target, "name", "")
    if name in ("min", "max") or target in (builtins.min, builtins.max):
        return len(call.positional) > 1
    known = isinstance(target, type) and annotation_of(target).kind == "scalar"
    return name in _MAPPED or known or target in _BUILTINS


@wraps_calls
def map_call(frame: Frame, target: Any, call: Call, run: Callable[[Call], Value]) -> Value | None:
    """A function of numbers on vectors; None if there are no vectors, or it takes them whole."""
    if not _has_vectors(call) or not _is_mapped(target, call):
        return None
    names = list(call.keywords)
    operands = [*call.positional, *call.keywords.values()]
    lanes = _lanes(frame, operands, call.node, f"apply {call.name} to")
    if lanes is None:
        return None
    split = len(call.positional)
    return _collected(
        [
            run(Call(call.node, call.name, tuple(lane[:split]),
                     dict(zip(names, lane[split:], strict=True))))
            for lane in lanes
        ]
    )  # fmt: skip


def _has_vectors(call: Call) -> bool:
    return any(
        isinstance(value, VectorValue)
        or (isinstance(value, Known) and isinstance(value.value, HostVector))
        for value in call.values
    )


# ── elements ─────────────────────────────────────────────────────────────────────────────────────


# Methods of NumPy's arrays, as the functions that vectors have for them.
_FUNCTIONS = {name: name + "({})" for name in ("sum", "min", "max", "all", "any")}
_FUNCTIONS["dot"] = "cb.dot({}, …)"


def _owner_text(at: ast.AST) -> str:
    return snippet(at.value) if isinstance(at, ast.Attribute) else "v"


@reads_attributes
def attribute(frame: Frame, owner: Value, name: str, at: ast.AST) -> Value | None:
    """`v.dtype`; there is nothing else."""
    if not isinstance(owner, VectorValue):
        return None
    if name == "dtype":
        return Known(class_of(owner.element))
    raise frame.error(
        CubeNameError,
        f"{describe(owner)} has no attribute {name!r}",
        at,
        f"write {_FUNCTIONS[name].format(_owner_text(at))}"
        if name in _FUNCTIONS
        else "vectors have dtype, len(v), elements v[i], and cb.dot, sum, min, max of them",
    )


@subscripts_groups
def subscript(frame: Frame, owner: Value, position: Operand, at: ast.AST) -> Value | None:
    """`v[i]`: an element; outside of the vector it is 0."""
    vector = vector_value(frame, owner, at)
    if vector is None:
        return None
    known = known_value(frame, position.value, plane=True)
    if known is not UNKNOWN_VALUE:
        return vector.items[_checked(frame, vector, known, position.node)]
    wanted = as_index(frame, position.value, position.node)
    result = frame.const(vector.element, 0, at)
    for number, item in enumerate(vector.items):
        here = frame.emit(ops.EQ, wanted, frame.const(INDEX, number, at), at=at)
        assert isinstance(item, Op)
        result = frame.emit(ops.SELECT, here, item, result, at=at)
    return result


@slices_groups
def sliced(frame: Frame, owner: Value, bounds: slice, at: ast.AST) -> Value | None:
    """`v[0:2]`: a shorter vector."""
    vector = vector_value(frame, owner, at)
    if vector is None:
        return None
    items = vector.items[bounds]
    return vector_of(frame, [Operand(item, at) for item in items], at)


def _checked(frame: Frame, vector: VectorValue, position: Any, at: ast.AST) -> int:
    if isinstance(position, bool) or not isinstance(position, int):
        as_index(frame, Known(position), at)
    if not 0 <= position < len(vector.items):
        raise frame.error(
            CubeValueError,
            f"the subscript {shown(position)} is outside of {describe(vector)}",
            at,
            f"its elements are 0 to {len(vector.items) - 1}",
        )
    return int(position)


@lowers_intrinsic("insert")
def lower_insert(frame: Frame, call: Call) -> Value:
    """`cb.insert(v, i, x)`: `v` with another element; outside of the vector it is `v`."""
    owner, position, operand = required(frame, call, "vector", "index", "value")
    vector = vector_value(frame, owner.value, owner.node)
    if vector is None:
        raise frame.error(
            CubeTypeError, f"cb.insert takes a vector, not {describe(owner.value)}", owner.node,
            "store into an array: x[i] = …",
        )  # fmt: skip
    value = as_type(frame, operand.value, vector.element, operand.node, what="the element")
    known = known_value(frame, position.value, plane=True)
    if known is not UNKNOWN_VALUE:
        at = _checked(frame, vector, known, position.node)
        return VectorValue((*vector.items[:at], value, *vector.items[at + 1 :]))
    wanted = as_index(frame, position.value, position.node)
    items: list[Value] = []
    for number, item in enumerate(vector.items):
        here = frame.emit(ops.EQ, wanted, frame.const(INDEX, number, call.node), at=call.node)
        assert isinstance(item, Op)
        items.append(frame.emit(ops.SELECT, here, value, item, at=call.node))
    return VectorValue(tuple(items))
