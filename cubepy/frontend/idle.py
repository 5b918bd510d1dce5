"""Statements and kernels that do nothing, which their authors did not mean.

What can only be a mistake is refused: an expression as a statement, an array parameter that is
assigned in place of its elements. What may be on purpose is warned of.
"""

from __future__ import annotations

import ast

from cubepy.errors import CubeSyntaxError, CubeTypeError, Diagnostic
from cubepy.frontend.descriptions import snippet
from cubepy.frontend.dispatch import lower_expression
from cubepy.frontend.effects import (
    changes_something,
    endless_loop,
    reads_name,
    stores_by_itself,
    unread_rebindings,
)
from cubepy.frontend.frame import Frame
from cubepy.frontend.lang import Intrinsic
from cubepy.frontend.scalars import scalar_of
from cubepy.frontend.session import Session
from cubepy.frontend.signature import Specialization
from cubepy.frontend.source import KernelSource
from cubepy.frontend.values import Known, is_memory
from cubepy.ir import BufferType, Function, Op, Region, Trait, ops, walk

__all__ = ["judge_kernel", "refuse_idle_statement"]

# Functions without an effect that are no row of the op table.
_VALUES_ONLY = frozenset(
    {"bitcast", "cast", "cdiv", "clamp", "frexp", "ldexp", "ln"}
    | {"recip", "rotl", "rotr", "select"}
)
_BUILTINS: tuple[object, ...] = (abs, divmod, len, max, min, pow, round, sum)


def refuse_idle_statement(frame: Frame, node: ast.expr) -> None:
    """Raise if an expression that is a whole statement changes nothing."""
    if isinstance(node, ast.Call):
        _refuse_unused_call(frame, node)
        return
    if changes_something(node):
        return
    if isinstance(node, ast.Name | ast.Attribute):
        _refuse_name(frame, node)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
        raise frame.error(
            CubeSyntaxError,
            "this comparison does nothing",
            node,
            f"to assign, write {snippet(node.left)} = {snippet(node.comparators[-1])}",
        )
    raise _idle(frame, node)


def _idle(frame: Frame, node: ast.expr) -> Exception:
    return frame.error(
        CubeSyntaxError,
        "this expression does nothing: its value is not used",
        node,
        "assign it, for example out[i] = …, or leave it out",
    )


def _refuse_name(frame: Frame, node: ast.Name | ast.Attribute) -> None:
    value = lower_expression(frame, node)
    if isinstance(value, Known) and callable(value.value):
        name = ast.unparse(node)
        raise frame.error(
            CubeSyntaxError, f"{name} is named here, not called", node, f"write {name}()"
        )


def _refuse_unused_call(frame: Frame, node: ast.Call) -> None:
    """Raise for a call of a function that only computes a value."""
    if not isinstance(node.func, ast.Name | ast.Attribute):
        return
    if node.func in frame.analysis.variables or any(map(changes_something, node.args)):
        return
    callee = lower_expression(frame, node.func)
    target = callee.value if isinstance(callee, Known) else None
    if isinstance(target, Intrinsic):
        row = ops.BY_PYTHON.get(target.name)
        pure = row is not None and row.has(Trait.PURE)
        if pure or target.name in _VALUES_ONLY:
            raise _idle(frame, node)
    elif _is_cast(target) or any(target is each for each in _BUILTINS):
        raise _idle(frame, node)


def _is_cast(target: object) -> bool:
    return isinstance(target, type) and scalar_of(target) is not None


# ── whole kernels ────────────────────────────────────────────────────────────────────────────────


def judge_kernel(
    session: Session, source: KernelSource, specialization: Specialization, body: Region
) -> None:
    """Complain of parameters that are assigned for nothing, and warn of a kernel without effect."""
    arrays = {name for name, type in specialization.types if isinstance(type, BufferType)}
    warned = len(session.warnings)
    for name, statement in unread_rebindings(source.node):
        _judge_rebinding(session, source, name, statement, array=name in arrays)
    endless = endless_loop(source.node)
    stores = stores_by_itself(source.node) and endless is None
    if session.complaints or len(session.warnings) > warned or stores:
        return
    if not _is_empty(source.node) and not _has_effect(body, session.functions):
        session.warn(
            Diagnostic(
                message=f"{source.name} stores nothing: a launch of it changes nothing",
                loc=source.loc,
                help="store the result in an array: out[i] = …"
                if endless is None
                else f"leave the loop in line {source.text.loc(endless, source.name).line} with "
                "break: nothing behind it is reached",
            )
        )


def _judge_rebinding(
    session: Session, source: KernelSource, name: str, statement: ast.stmt, *, array: bool
) -> None:
    loc = source.text.loc(statement, source.name)
    if array and reads_name(statement, name):
        return  # `x = x[0]`: an element under the array's name, whatever becomes of it
    if not array:
        session.warn(
            Diagnostic(
                message=f"nothing reads what is assigned to the parameter {name} here, "
                "and the caller does not see it",
                loc=loc,
                help="to give a result back, store it in an array: out[0] = …",
            )
        )
        return
    session.report(
        CubeTypeError(
            Diagnostic(
                message=f"this gives the name {name} to another value: the array stays as it is",
                loc=loc,
                help=f"store an element: {name}[i] = …",
            )
        )
    )


def _is_empty(node: ast.AST) -> bool:
    """Whether a kernel is empty on purpose, or there only to be compiled."""
    if any(isinstance(each, ast.Assert) or _called(each) in _COMPILED for each in ast.walk(node)):
        return True
    return isinstance(node, ast.FunctionDef) and all(
        isinstance(each, ast.Pass | ast.Return)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in node.body
    )


_COMPILED = ("static_assert", "static_print")


def _called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else ""


def _has_effect(body: Region, functions: list[Function]) -> bool:
    """Whether something outside the launch can tell that a kernel ran."""
    bodies = [body, *(function.body for function in functions)]
    return any(_is_effect(op) for each in bodies for op in walk(each))


def _is_effect(op: Op) -> bool:
    if op.opdef.has(Trait.REPORTS):
        return True
    if not op.opdef.has(Trait.WRITES) or not op.operands:
        return False
    target = op.operands[0]
    return is_memory(target) and isinstance(target.type, BufferType)
