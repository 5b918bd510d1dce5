"""Statements: assignment, `if`, `match`, `return`, functions inside functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from cubepy.errors import CubeSyntaxError, CubeTypeError
from cubepy.frontend.annotations import annotation_of
from cubepy.frontend.choices import of_type
from cubepy.frontend.coercion import Operand, is_scalar
from cubepy.frontend.conditions import lower_condition
from cubepy.frontend.descriptions import counted, describe, snippet
from cubepy.frontend.dispatch import lower_body, lower_expression, lowers_statement
from cubepy.frontend.expressions import local_function, unpacked
from cubepy.frontend.fitting import fitted
from cubepy.frontend.frame import Assigned, Frame
from cubepy.frontend.idle import refuse_idle_statement
from cubepy.frontend.memory import element_of, load, store
from cubepy.frontend.operators import binary
from cubepy.frontend.results import give_back
from cubepy.frontend.scalars import scalar_of
from cubepy.frontend.values import NONE, Known, Poison, StructValue, TupleValue, Value
from cubepy.frontend.variables import assign, read
from cubepy.ir import Op, ops
from cubepy.records import replace

__all__ = ["assign_target"]


@lowers_statement(ast.Pass)
def lower_pass(frame: Frame, node: ast.Pass) -> None:
    """Nothing."""


@lowers_statement(ast.Expr)
def lower_expression_statement(frame: Frame, node: ast.Expr) -> None:
    """A call for its effect; a docstring."""
    if not isinstance(node.value, ast.Constant):
        refuse_idle_statement(frame, node.value)
        lower_expression(frame, node.value)


@lowers_statement(ast.FunctionDef)
def lower_nested_function(frame: Frame, node: ast.FunctionDef) -> None:
    """A function inside the kernel: a value like a lambda."""
    if node.decorator_list:
        raise frame.error(
            CubeSyntaxError, "a decorator inside a kernel", node.decorator_list[0],
            "a function inside a kernel needs none",
        )  # fmt: skip
    assign(frame, frame.analysis.variables[node], local_function(frame, node), node)


# ── assignment ───────────────────────────────────────────────────────────────────────────────────


@lowers_statement(ast.Assign)
def lower_assign(frame: Frame, node: ast.Assign) -> None:
    """`a = b = value`."""
    if isinstance(node.targets[0], ast.Name):
        frame.named, frame.hint = node.value, node.targets[0].id
    value = lower_expression(frame, node.value)
    for target in node.targets:
        assign_target(frame, target, value, node.value)


@lowers_statement(ast.AnnAssign)
def lower_annotated(frame: Frame, node: ast.AnnAssign) -> None:
    """`x: f64 = 0.0`: a local whose type is given; `Any` gives none."""
    annotation = lower_expression(frame, node.annotation)
    wanted = annotation.value if isinstance(annotation, Known) else None
    scalar = scalar_of(wanted)
    kind = annotation_of(wanted)
    group = kind.kind in ("struct", "tuple", "vector")
    if not isinstance(node.target, ast.Name):
        raise frame.error(
            CubeTypeError,
            "an annotation here: an element has the type of its array",
            node.annotation,
            f"write {snippet(node.target)} = …",
        )
    if scalar is None and not group and wanted is not Any:
        raise frame.error(
            CubeTypeError,
            f"a local cannot be annotated {snippet(node.annotation)}",
            node.annotation,
            f"annotate it with a scalar type, vector, struct or tuple: {node.target.id}: f32 = 0.0",
        )
    if node.value is None:
        raise frame.error(
            CubeSyntaxError,
            "an annotation without a value",
            node,
            f"write {node.target.id}: {snippet(node.annotation)} = 0",
        )
    frame.named, frame.hint = node.value, node.target.id
    value = lower_expression(frame, node.value)
    if group and not isinstance(value, Poison):
        what = f"variable {node.target.id!r}"
        value = fitted(frame, Operand(value, node.value), kind, frame.generics, what)
    if scalar is not None and isinstance(value, Op):
        value = of_type(frame, value, scalar, node.value) or value
    assign(frame, frame.analysis.variables[node.target], value, node, type=scalar)


def assign_target(frame: Frame, target: ast.expr, value: Value, value_node: ast.expr) -> None:
    """Assign to a name, an element, or several of them."""
    if isinstance(target, ast.Name):
        assign(frame, frame.analysis.variables[target], value, target)
    elif isinstance(target, ast.Subscript):
        element = element_of(frame, target)
        if not isinstance(element, Poison) and not isinstance(value, Poison):
            store(frame, element, value, target, value_node)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(frame, target, value, value_node)
    elif isinstance(target, ast.Attribute):
        raise _frozen(frame, target, value_node)
    else:
        raise _unassignable(frame, target)


def _unassignable(frame: Frame, target: ast.expr) -> Exception:
    what = "an attribute" if isinstance(target, ast.Attribute) else "this"
    return frame.error(
        CubeSyntaxError,
        f"{what} cannot be assigned to in a kernel",
        target,
        "assign to a name, an element x[i], or several of them",
    )


def _frozen(frame: Frame, target: ast.Attribute, at: ast.AST) -> Exception:
    """The error for an assignment to an attribute, which nothing in a kernel has."""
    owner = lower_expression(frame, target.value)
    if not isinstance(owner, StructValue):
        return _unassignable(frame, target)
    name = ast.unparse(target.value)
    return frame.error(
        CubeTypeError,
        f"an assignment to a field of {describe(owner)}, which never changes",
        target,
        f"make another: {name} = dataclasses.replace({name}, {target.attr}={snippet(at)})",
    )


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: Value, value_node: ast.expr) -> None:
    if isinstance(value, Poison):
        for inner in target.elts:
            assign_target(frame, inner, value, value_node)
        return
    items = list(unpacked(frame, value, value_node))
    inner_nodes: Sequence[ast.expr] = [value_node] * len(items)
    if isinstance(value_node, ast.Tuple) and len(value_node.elts) == len(items):
        inner_nodes = value_node.elts
    star = next((at for at, one in enumerate(target.elts) if isinstance(one, ast.Starred)), None)
    targets = list(target.elts)
    if star is not None:
        starred = targets[star]
        assert isinstance(starred, ast.Starred)
        behind = len(targets) - star - 1
        if len(items) >= len(targets) - 1:
            stop = len(items) - behind
            middle = TupleValue(tuple(items[star:stop]))
            items[star:stop] = [middle]
            inner_nodes = [value_node] * len(items)
            targets[star] = starred.value
    if len(items) != len(targets):
        raise frame.error(
            CubeTypeError,
            f"{counted(len(items), 'value')} for {counted(len(targets), 'name')}",
            target,
            "name each of them; one name with a * takes what is left",
        )
    for inner, item, inner_node in zip(targets, items, inner_nodes, strict=True):
        assign_target(frame, inner, item, inner_node)


@lowers_statement(ast.AugAssign)
def lower_augmented(frame: Frame, node: ast.AugAssign) -> None:
    """`target op= value`: the subscripts of the target are evaluated once."""
    target = node.target
    if isinstance(target, ast.Name):
        variable = frame.analysis.variables[target]
        before = Operand(read(frame, variable, target), target)
        right = Operand(lower_expression(frame, node.value), node.value)
        try:
            value = binary(frame, node.op, before, right, node)
        except CubeTypeError as error:
            raise _augmented(error, before, right, target.id) from error
        assign(frame, variable, value, node)
        return
    if isinstance(target, ast.Attribute):
        raise _frozen(frame, target, node)
    if not isinstance(target, ast.Subscript):
        raise _unassignable(frame, target)
    element = element_of(frame, target)
    if isinstance(element, Poison):
        return
    before = Operand(load(frame, element, target), target)
    right = Operand(lower_expression(frame, node.value), node.value)
    value = binary(frame, node.op, before, right, node)
    if not isinstance(value, Poison):
        store(frame, element, value, node, node.value)


def _augmented(error: CubeTypeError, before: Operand, right: Operand, name: str) -> CubeTypeError:
    """The fix that `name op= value` takes: the target itself cannot be cast."""
    if not is_scalar(before.value) or not is_scalar(right.value):
        return error
    own, other = describe(before.value), describe(right.value)
    fix = f"convert: {own}({snippet(right.node)}), or let {name} begin as {other}"
    return CubeTypeError([replace(each, help=fix) for each in error.diagnostics])


# ── branches ─────────────────────────────────────────────────────────────────────────────────────


@lowers_statement(ast.If)
def lower_if(frame: Frame, node: ast.If) -> None:
    """`if`/`elif`/`else`; of a condition known while compiling only the arm taken is lowered."""
    condition, if_true, if_false = lower_condition(frame, node.test)
    if isinstance(condition, bool):
        frame.assigned = if_true if condition else if_false
        lower_body(frame, node.body if condition else node.orelse)
        return
    run_branches(frame, condition, (node.body, node.orelse), (if_true, if_false), node.test, node)


def run_branches(
    frame: Frame,
    condition: Op,
    bodies: tuple[Sequence[ast.stmt], Sequence[ast.stmt]],
    starts: tuple[Assigned, Assigned],
    test: ast.AST,
    at: ast.AST,
) -> None:
    """Emit an `if` with two statement lists."""
    ends: list[Assigned] = []
    regions = []
    for body, start in zip(bodies, starts, strict=True):
        frame.assigned = start
        with frame.branch() as opened:
            if body:
                lower_body(frame, body)
        ends.append(frame.assigned)
        regions.append(opened.close())
    frame.emit(ops.IF, condition, at=at, regions=tuple(regions))
    place = frame.loc(test)
    frame.merge(
        ends,
        [("not assigned where this is true", place), ("not assigned where this is false", place)],
    )


# ── leaving ──────────────────────────────────────────────────────────────────────────────────────


@lowers_statement(ast.Return)
def lower_return(frame: Frame, node: ast.Return) -> None:
    """`return`, of a value only in helpers."""
    if frame.returns is not None:
        value = NONE if node.value is None else lower_expression(frame, node.value)
        give_back(frame, value, node)
        return
    if node.value is not None and not (
        isinstance(node.value, ast.Constant) and node.value.value is None
    ):
        raise frame.error(
            CubeTypeError,
            "a kernel returns nothing",
            node,
            "write the result to an array: out[i] = …",
        )
    frame.emit(ops.RETURN, at=node)
    frame.assigned = None
