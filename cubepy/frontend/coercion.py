"""Bringing values to the types an operation needs, by the rules of `promotion.py`.

Casts are emitted only where nothing is lost; anything else is an error with a place and the cast to
write. A local that began as a literal is lowered again with another type where a use needs one.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from cubepy.errors import CubeTypeError, CubeValueError, SourceError, shown
from cubepy.frontend.choices import of_type
from cubepy.frontend.descriptions import describe, element_of_value, snippet
from cubepy.frontend.frame import Frame, exact
from cubepy.frontend.mismatches import (
    Operand,
    literal_mismatch,
    mismatch,
    scalar_type_of,
)
from cubepy.frontend.promotion import (
    converts_without_loss,
    default_type,
    literal_fits,
    literal_type,
    locals_may_become,
    promote,
    stores_into,
)
from cubepy.frontend.retyping import is_weak, retype, widen
from cubepy.frontend.values import (
    Known,
    StructValue,
    TupleValue,
    Value,
    Vectorized,
    VectorValue,
    as_array,
    is_number,
)
from cubepy.ir import BOOL, F32, F64, I64, INDEX, Op, Scalar, ops, scalar_type

__all__ = [
    "Operand",
    "are_weak",
    "as_condition",
    "as_index",
    "as_store",
    "as_type",
    "bring",
    "convert",
    "is_scalar",
    "literal",
    "no_integer_type",
    "refuse_no_result",
    "typed",
    "unify",
]


def is_scalar(value: Value) -> bool:
    """Whether a value is a run-time scalar."""
    return isinstance(value, Op) and isinstance(value.type, Scalar)


def convert(frame: Frame, op: Op, type: Scalar, at: ast.AST) -> Op:
    """`op` cast to a type; the caller knows that the cast is permitted."""
    if op.type == type:
        return op
    return frame.emit(ops.CAST, op, at=at, attrs={"to": type})


def literal(frame: Frame, value: Any, type: Scalar, at: ast.AST, *, own: bool = False) -> Op:
    """A number known while compiling as a constant of a type; an error if it does not fit.

    `own`: an op shared with no other.
    """
    if not is_number(Known(value)):
        return typed(frame, Known(value), at)  # raises
    if not literal_fits(value, type):
        raise literal_error(frame, value, type, at)
    if own:
        attrs = {"type": type, "value": exact(type, value)}
        return frame.append_to(frame.builder.current, ops.CONST, type, attrs, at)
    return frame.const(type, value, at)


def literal_error(frame: Frame, value: Any, type: Scalar, at: ast.AST) -> SourceError:
    """Why a literal cannot be of a type."""
    if type == BOOL or isinstance(value, bool):
        return frame.error(
            CubeTypeError,
            f"expected {type}, got {describe(Known(value))}",
            at,
            "compare, for example x != 0" if type == BOOL else f"write {type}({value})",
        )
    if isinstance(value, float) and not type.is_float:
        return frame.error(
            CubeTypeError,
            f"expected {type}, got the float {value!r}",
            at,
            f"convert: {type}({snippet(at)})",
        )
    if type.is_float:
        return frame.error(CubeValueError, f"{shown(value)} is too large for {type}", at, "use f64")
    return frame.error(
        CubeValueError,
        f"{shown(value)} does not fit {type} ({type.minimum} to {type.maximum})",
        at,
        f"use a wider type, or {type}({snippet(at)}) to wrap",
    )


def typed(frame: Frame, value: Value, at: ast.AST) -> Op:
    """A value as a scalar op; a literal gets its default type."""
    if isinstance(value, Known) and is_number(value):
        type = default_type(value.value)
        if type is None:
            raise no_integer_type(frame, value.value, at)
        return frame.const(type, value.value, at)
    if isinstance(value, Op) and isinstance(value.type, Scalar):
        return value
    refuse_no_result(frame, Operand(value, at))
    raise frame.error(
        CubeTypeError,
        f"expected a number or bool, got {describe(value)}",
        at,
        _part_of(value, at),
    )


def refuse_no_result(frame: Frame, operand: Operand) -> None:
    """Raise if a value is that of a call of something that returns nothing."""
    call = operand.node
    if (
        isinstance(operand.value, Known)
        and operand.value.value is None
        and isinstance(call, ast.Call)
    ):
        name = ast.unparse(call.func)
        raise frame.error(
            CubeTypeError,
            f"{name} returns nothing, so there is no value here",
            call,
            f"call it on a line of its own, or let {name} end with a return",
        )


def no_integer_type(frame: Frame, number: Any, at: ast.AST) -> SourceError:
    """The error for an integer of more than 64 bits."""
    return frame.error(
        CubeValueError,
        f"{shown(number)} fits no integer type",
        at,
        "the widest are i64 and u64: split it in two, or use a float",
    )


def _part_of(value: Value, at: ast.AST) -> str:
    """How to get at a number of what is none itself."""
    if as_array(value) is not None or isinstance(value, Vectorized):
        return f"subscript it: {element_of_value(value, at)}"
    if isinstance(value, Known) and value.value is None:
        return "a function without `return` gives None"
    if isinstance(value, VectorValue):
        count = len(value.items)
        return f"take an element, {snippet(at)}[0], or store it in x.vectorized({count})"
    if isinstance(value, StructValue):
        return f"take a field of it: {snippet(at)}.name"
    return "kernels compute with numbers and bools"


def as_type(
    frame: Frame, value: Value, type: Scalar, at: ast.AST, *, what: str = "", loc: Any = None
) -> Op:
    """A value converted to a type without loss. `what` says for what, `loc` where that was said."""
    if isinstance(value, Known) and is_number(value):
        return literal(frame, value.value, type, at)
    op = typed(frame, value, at)
    chosen = of_type(frame, op, type, at)
    if chosen is not None:
        return chosen
    source = scalar_type(op)
    if converts_without_loss(source, type):
        widen(frame, op, type)
        return convert(frame, op, type, at)
    if retype(frame, op, type):
        return convert(frame, op, type, at)
    raise frame.error(
        CubeTypeError,
        f"{what or 'value'}: expected {type}, got {source}",
        at,
        f"convert: {type}({snippet(at)})",
        [(f"{type} because of this", loc)] if loc is not None else (),
    )


def as_store(
    frame: Frame, value: Value, element: Scalar, at: ast.AST, target: str, *, kind: str = ""
) -> Op:
    """A value as stores into arrays convert it; `kind` is what messages call the elements."""
    if isinstance(value, Known) and is_number(value):
        return literal(frame, value.value, element, at)
    op = typed(frame, value, at)
    chosen = of_type(frame, op, element, at)
    if chosen is not None:
        return chosen
    source = scalar_type(op)
    if stores_into(source, element):
        widen(frame, op, element)
        return convert(frame, op, element, at)
    if retype(frame, op, element):
        return convert(frame, op, element, at)
    raise frame.error(
        CubeTypeError,
        f"cannot store {source} into an array of {kind or element}",
        at,
        f"compare: {snippet(at)} != 0"
        if element == BOOL
        else f"convert: {target}.dtype({snippet(at)})",
    )


def as_index(frame: Frame, value: Value, at: ast.AST, what: str = "a subscript") -> Op:
    """A value as an `index`: any integer."""
    if isinstance(value, Known) and is_number(value) and not isinstance(value.value, bool | float):
        if not literal_fits(value.value, INDEX):
            raise frame.error(
                CubeValueError,
                f"{shown(value.value)} is too large for {what}",
                at,
                "it goes up to 2**63 - 1",
            )
        return frame.const(INDEX, value.value, at)
    if is_scalar(value) and isinstance(value, Op) and scalar_type(value).is_integer:
        return convert(frame, value, INDEX, at)
    is_float = isinstance(value, Op) and value.type in (F32, F64)
    raise frame.error(
        CubeTypeError,
        f"{what} must be an integer, not {describe(value)}",
        at,
        f"convert: cb.index({snippet(at)})"
        if is_float
        else "write a whole number, or a local of one",
    )


def _as_bool(value: Value, at: ast.AST) -> str:
    """How to make a condition of what is none."""
    text = snippet(at)
    if isinstance(value, VectorValue) and isinstance(at, ast.Compare) and len(at.ops) > 1:
        sides = [at.left, *at.comparators]
        links = zip(sides, at.ops, sides[1:], strict=False)
        parts = [ast.unparse(ast.Compare(a, [between], [b])) for a, between, b in links]
        return f"write the chain out: all({' & '.join(f'({part})' for part in parts)})"
    if isinstance(value, VectorValue):
        text = text if value.element == BOOL else f"{text} != 0"
        return f"of every element: all({text}); of some: any({text})"
    if as_array(value) is not None:
        return f"compare an element, or its length: len({text}) > 0"
    loose = isinstance(at, ast.IfExp | ast.BoolOp | ast.NamedExpr)
    text = f"({text})" if loose else text
    return f"compare: {text} != 0" if is_scalar(value) else "compare a number of it"


def as_condition(frame: Frame, value: Value, at: ast.AST) -> Op | bool:
    """A condition: a bool known while compiling by Python's truth, or a run-time bool."""
    if isinstance(value, Known):
        return bool(value.value)
    if isinstance(value, Op) and value.type == BOOL:
        return value
    if isinstance(value, TupleValue):
        return bool(value.items)
    raise frame.error(
        CubeTypeError,
        f"a condition must be bool, not {describe(value)}",
        at,
        _as_bool(value, at),
    )


def unify(frame: Frame, operands: Sequence[Operand], at: ast.AST, verb: str) -> list[Op]:
    """Operands brought to one type without loss; `verb` completes "cannot … f32 and i32"."""
    hard: Operand | None = None
    target: Scalar | None = None
    for operand in operands:
        if isinstance(operand.value, Op) and operand.value not in frame.soft:
            type = scalar_type(typed(frame, operand.value, operand.node))
            joined = type if target is None else promote(target, type)
            if joined is None:
                assert hard is not None
                raise mismatch(frame, operands, operand, scalar_type_of(hard), at, verb)
            hard, target = (operand if target != joined else hard), joined
    target = _with_soft(frame, operands, target, at, verb)
    target = _with_literals(frame, operands, target, at, verb)
    weak = target == F32 and are_weak(frame, operands)
    for operand in operands:
        if isinstance(operand.value, Op):
            widen(frame, operand.value, target)
    return [bring(frame, operand, target, weak=weak) for operand in operands]


def are_weak(frame: Frame, operands: Sequence[Operand]) -> bool:
    """Whether what is computed from operands may become f64 yet."""
    return all(not isinstance(each.value, Op) or is_weak(frame, each.value) for each in operands)


def _with_soft(
    frame: Frame, operands: Sequence[Operand], target: Scalar | None, at: ast.AST, verb: str
) -> Scalar | None:
    """The common type once locals that began as literals have had their say."""
    hard = target is not None
    seen: list[Op] = []
    for operand in operands:
        op = operand.value
        if not isinstance(op, Op) or op not in frame.soft:
            continue
        type = scalar_type(op)
        if target is None:
            target = type
        elif type.is_integer and target.is_float:
            target = locals_may_become(target)
            assert target is not None
            if op.opdef is not ops.CONST and not retype(frame, op, target):
                raise mismatch(frame, operands, operand, target, at, verb)
        else:
            joined = _soft_pair(frame, op, type, target, () if hard else seen)
            if joined is None:
                raise mismatch(frame, operands, operand, target, at, verb)
            target = joined
        seen.append(op)
    return target


def _soft_pair(
    frame: Frame, op: Op, type: Scalar, target: Scalar, earlier: Sequence[Op]
) -> Scalar | None:
    """The common type of a local begun by a literal and others; None if there is none.

    `earlier`: the operands that `target` comes from, if all of them began as literals too.
    """
    joined = promote(type, target)
    if joined is not None:
        if joined == F64 and type.is_float:
            retype(frame, op, F64)
        return joined
    if retype(frame, op, target):
        return target
    if earlier and all(each.opdef is ops.CONST or retype(frame, each, type) for each in earlier):
        return type
    return None


def _with_literals(
    frame: Frame, operands: Sequence[Operand], target: Scalar | None, at: ast.AST, verb: str
) -> Scalar:
    """The common type once literals have taken it."""
    numbers = [operand for operand in operands if not isinstance(operand.value, Op)]
    for operand in numbers:
        typed_or_number = operand.value
        if not is_number(typed_or_number):
            typed(frame, typed_or_number, operand.node)
    values = [operand.value.value for operand in numbers if isinstance(operand.value, Known)]
    if target is None:
        return _of_literals(values)
    for operand, value in zip(numbers, values, strict=True):
        taken = literal_type(value, target)
        if taken is None and isinstance(value, float) and target.is_integer:
            taken = F32 if _retype_integers(frame, operands, F32) else None
        if taken is None:
            raise literal_mismatch(frame, operands, operand, target, at, verb)
        target = taken
    return target


def _of_literals(values: Sequence[Any]) -> Scalar:
    types = [default_type(value) for value in values]
    if any(type is not None and type.is_float for type in types):
        return F32
    fitting = [type for type in types if type is not None]
    # where no type holds a number, bringing it to the largest says so
    return max(fitting, key=lambda type: type.bits, default=I64)


def _retype_integers(frame: Frame, operands: Sequence[Operand], wanted: Scalar) -> bool:
    """Whether every integer operand is a local begun by a literal, which may be a float as well."""
    integers = [operand.value for operand in operands if isinstance(operand.value, Op)]
    return all(
        op in frame.soft and (op.opdef is ops.CONST or retype(frame, op, wanted)) for op in integers
    )


def bring(frame: Frame, operand: Operand, target: Scalar, *, weak: bool = False) -> Op:
    """An operand as an op of a type that `unify` found; `weak`: so are all of them."""
    value = operand.value
    if isinstance(value, Known):
        made = literal(frame, value.value, target, operand.node, own=weak)
        frame.weak[made] = weak
        return made
    assert isinstance(value, Op)
    if value in frame.soft and value.opdef is ops.CONST and value.type != target:
        number = value.attrs["value"]
        if isinstance(number, int | float) and literal_fits(number, target):
            return frame.const(target, number, operand.node)
    return convert(frame, value, target, operand.node)
