"""The dotted names that a function reads from outside, by its syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from cubepy.frontend.source import FunctionNode, parameters_of

__all__ = ["free_paths"]


def free_paths(node: FunctionNode) -> tuple[tuple[str, ...], ...]:
    """Dotted names that a function reads from outside, longest form, in order of appearance."""
    local = _bound_names(node)
    found: dict[tuple[str, ...], None] = {}
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    pending: list[ast.AST] = body[::-1]
    while pending:
        current = pending.pop()
        path = _dotted(current)
        if path is not None:
            if path[0] not in local:
                found.setdefault(path)
            continue
        pending.extend(_parts(current))
    return tuple(found)


def _bound_names(node: FunctionNode) -> set[str]:
    bound = set(parameters_of(node.args))
    pending: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    while pending:
        inner = pending.pop()
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            bound.add(inner.id)
        if isinstance(inner, ast.FunctionDef):
            bound.add(inner.name)
        elif not isinstance(inner, ast.Lambda):
            pending.extend(_parts(inner))
    return bound


def _parts(node: ast.AST) -> Iterable[ast.AST]:
    """The nodes in a node; for what long code is made of, without a look at its fields."""
    if isinstance(node, ast.BinOp):
        return (node.left, node.right)
    if isinstance(node, ast.Name | ast.Constant):
        return ()
    return ast.iter_child_nodes(node)


def _dotted(node: ast.AST) -> tuple[str, ...] | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(parts))
