"""Which function lowers which node: filled by the modules that lower, asked by all of them.

This keeps expressions, calls and statements, which need one another, in files of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TypeVar

from cubepy.errors import CubeSyntaxError, SourceError
from cubepy.frontend.frame import Frame
from cubepy.frontend.values import Value
from cubepy.frontend.variables import poison_targets

__all__ = [
    "lower_body",
    "lower_comptime",
    "lower_expression",
    "lowers_expression",
    "lowers_statement",
]

_EXPRESSIONS: dict[type[ast.AST], Callable[..., Value]] = {}
_STATEMENTS: dict[type[ast.AST], Callable[..., None]] = {}

E = TypeVar("E", bound=Callable[..., Value])
S = TypeVar("S", bound=Callable[..., None])


def lowers_expression(*kinds: type[ast.expr]) -> Callable[[E], E]:
    """Say that a function lowers these expressions."""

    def remember(handler: E) -> E:
        for kind in kinds:
            _EXPRESSIONS[kind] = handler
        return handler

    return remember


def lowers_statement(*kinds: type[ast.stmt]) -> Callable[[S], S]:
    """Say that a function lowers these statements."""

    def remember(handler: S) -> S:
        for kind in kinds:
            _STATEMENTS[kind] = handler
        return handler

    return remember


def lower_expression(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression."""
    handler = _EXPRESSIONS.get(type(node))
    if handler is None:
        what = _WORDS.get(type(node), f"{type(node).__name__} expressions")
        raise frame.error(
            CubeSyntaxError, f"kernels have no {what}", node, _FIXES.get(type(node), "")
        )
    return handler(frame, node)


def lower_comptime(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression in which Python itself evaluates calls."""
    before, frame.comptime = frame.comptime, True
    try:
        return lower_expression(frame, node)
    finally:
        frame.comptime = before


def lower_body(frame: Frame, body: Sequence[ast.stmt]) -> None:
    """Lower a statement list into the open region, up to where the function goes elsewhere.

    An error in one statement is kept, and the others are looked at as well.
    """
    frame.enter(body)
    for statement in body:
        if not frame.reachable or frame.session.full:
            return
        handler = _STATEMENTS.get(type(statement))
        try:
            if handler is None:
                what = _WORDS.get(type(statement), f"{type(statement).__name__} statements")
                raise frame.error(
                    CubeSyntaxError,
                    f"kernels have no {what}",
                    statement,
                    _FIXES.get(type(statement), ""),
                )
            handler(frame, statement)
        except SourceError as error:
            frame.session.report(error)
            poison_targets(frame, statement)
            if isinstance(statement, ast.Return):
                frame.assigned = None


_WORDS: dict[type[ast.AST], str] = {
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Starred: "starred expressions here",
    ast.ClassDef: "classes",
    ast.AsyncFunctionDef: "async functions",
    ast.Delete: "del",
    ast.With: "with statements",
    ast.AsyncWith: "with statements",
    ast.AsyncFor: "async loops",
    ast.Raise: "exceptions",
    ast.Try: "exceptions",
    ast.TryStar: "exceptions",
    ast.Import: "imports",
    ast.ImportFrom: "imports",
    ast.Global: "global variables",
    ast.Nonlocal: "nonlocal variables",
}
_FIXES: dict[type[ast.AST], str] = {
    ast.Delete: "leave it out: a local ends with its function",
    ast.With: "leave it out: write what it does",
    ast.AsyncWith: "leave it out: write what it does",
    ast.AsyncFor: "write a plain for",
    ast.ClassDef: "define it outside the kernel",
    ast.AsyncFunctionDef: "define a plain function",
    ast.TryStar: "nothing raises in a kernel: test the condition with if",
    ast.Try: "nothing raises in a kernel: test the condition with if",
    ast.Raise: "write an error code to an array, or use assert",
    ast.Import: "import outside the kernel",
    ast.ImportFrom: "import outside the kernel",
    ast.Global: "return the value, or store it in an array",
    ast.Nonlocal: "return the value, or store it in an array",
}
