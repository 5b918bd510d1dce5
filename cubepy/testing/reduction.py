"""Makes a failing kernel small: statements go, then expressions, while it still fails.

:func:`reduce_kernel` asks a predicate about each attempt; an attempt that no longer compiles counts
as not failing. Pinned statements (barriers, counters of loops) stay, so a kernel keeps to the rules
it was made by.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator

from cubepy.records import replace
from cubepy.testing.generator import GeneratedKernel, Node

__all__ = ["reduce_kernel"]

Nodes = tuple[Node, ...]
Fails = Callable[[GeneratedKernel], bool]


def reduce_kernel(kernel: GeneratedKernel, fails: Fails, *, attempts: int = 600) -> GeneratedKernel:
    """The smallest kernel found for which `fails` still holds."""
    budget = [attempts]
    for shorter in (_without_statements, _smaller_expressions):
        progress = True
        while progress and budget[0] > 0:
            progress = False
            for part in ("body", "helpers"):
                kernel, found = _pass_over(kernel, part, shorter, fails, budget)
                progress |= found
    return kernel


def _pass_over(
    kernel: GeneratedKernel,
    part: str,
    shorter: Callable[[Nodes], Iterator[Nodes]],
    fails: Fails,
    budget: list[int],
) -> tuple[GeneratedKernel, bool]:
    """Take every attempt that still fails, each time going on from where it was found."""
    found, position = False, 0
    while budget[0] > 0:
        attempts = itertools.islice(shorter(getattr(kernel, part)), position, None)
        for attempt in attempts:
            budget[0] -= 1
            candidate = _with(kernel, part, attempt)
            if fails(candidate):
                kernel, found = candidate, True
                break
            position += 1
            if budget[0] <= 0:
                return kernel, found
        else:
            return kernel, found
    return kernel, found


def _with(kernel: GeneratedKernel, part: str, nodes: Nodes) -> GeneratedKernel:
    return replace(kernel, body=nodes) if part == "body" else replace(kernel, helpers=nodes)


def _without_statements(nodes: Nodes) -> Iterator[Nodes]:
    """Without some statements, without one, with a statement's body in its place."""
    free = [number for number, node in enumerate(nodes) if not node.pinned]
    for chunk in (len(free) // 2, len(free) // 4):
        for start in range(0, len(free), chunk) if chunk > 1 else ():
            gone = set(free[start : start + chunk])
            yield tuple(node for number, node in enumerate(nodes) if number not in gone)
    for number in reversed(range(len(nodes))):
        before, node, after = nodes[:number], nodes[number], nodes[number + 1 :]
        if not node.pinned:
            yield (*before, *after)
            if node.body and not node.text.startswith(("for ", "while ")):
                yield (*before, *node.body, *after)
        if node.arms:
            yield (*before, replace(node, arms=node.arms[:-1]), *after)
        for body in _without_statements(node.body):
            yield (*before, replace(node, body=body), *after)
        for arms in _inside_arms(node.arms, _without_statements):
            yield (*before, replace(node, arms=arms), *after)


def _inside_arms(arms: Nodes, shorter: Callable[[Nodes], Iterator[Nodes]]) -> Iterator[Nodes]:
    for number, arm in enumerate(arms):
        for body in shorter(arm.body):
            yield (*arms[:number], replace(arm, body=body), *arms[number + 1 :])


def _smaller_expressions(nodes: Nodes) -> Iterator[Nodes]:
    """With one expression replaced by a part of it."""
    for number, node in enumerate(nodes):
        before, after = nodes[:number], nodes[number + 1 :]
        if not node.pinned:
            for text in _smaller_lines(node.text):
                yield (*before, replace(node, text=text), *after)
        for body in _smaller_expressions(node.body):
            yield (*before, replace(node, body=body), *after)
        for arms in _inside_arms(node.arms, _smaller_expressions):
            yield (*before, replace(node, arms=arms), *after)


def _smaller_lines(line: str) -> Iterator[str]:
    """A statement with one of its expressions replaced by one of its operands."""
    head = line.endswith(":")
    if head and not line.startswith(("if ", "while ")):
        return
    tree = ast.parse(line + " pass" if head else line)
    count = sum(isinstance(node, ast.expr) for node in ast.walk(tree))
    for position in range(count):
        choice = 0
        while True:
            changed = _Replace(position, choice)
            text = ast.unparse(changed.visit(ast.parse(line + " pass" if head else line)))
            if not changed.done:
                break
            yield text.split("\n")[0] if head else text
            choice += 1


class _Replace(ast.NodeTransformer):
    """Puts operand number `choice` in the place of expression number `position`."""

    def __init__(self, position: int, choice: int) -> None:
        self.position = position
        self.choice = choice
        self.seen = -1
        self.done = False

    def visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, ast.expr):
            return self.generic_visit(node)
        self.seen += 1
        if self.seen != self.position:
            return self.generic_visit(node)
        operands = _operands(node)
        if self.choice >= len(operands):
            return node
        self.done = True
        return operands[self.choice]


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.BoolOp(values=values):
            return values
        case ast.UnaryOp(operand=operand):
            return [] if isinstance(operand, ast.Constant) else [operand]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return [body, orelse, test]
        case ast.Call(args=args):
            return list(args)
        case _:
            return []
