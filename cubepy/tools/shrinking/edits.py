"""What a script may lose when no more statements can be taken out.

A function that is called once gives its place to its body, a variable that is read once to its
value, an expression to a part of it; parameters go with their arguments, and what stands in a list
goes one by one. Whether a change is worth keeping is for `reduction` to find out.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from functools import partial

__all__ = ["BLOCKS", "Edit", "bodies", "edits"]

# Makes a changed copy of the tree that it was found in.
Edit = Callable[[], ast.Module]
# Changes a node, or what is round it, in the tree that it is part of.
_Change = Callable[[ast.AST, ast.Module], None]

BLOCKS = ("body", "orelse", "finalbody")
# Fields whose elements may go one by one, and how many have to stay.
_LISTS = {"names": 1, "elts": 1, "keywords": 0, "args": 0, "decorator_list": 0}


def edits(tree: ast.Module) -> Iterator[Edit]:
    """Every change of one node; outer ones first."""
    for number, node in enumerate(ast.walk(tree)):
        for change in _changes(node, tree):
            yield partial(_changed, tree, number, change)


def bodies(tree: ast.Module) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    """Every list of statements, outer ones first."""
    for node in ast.walk(tree):
        for name in BLOCKS:
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                yield node, name, body


def _changed(tree: ast.Module, number: int, change: _Change) -> ast.Module:
    made = copy.deepcopy(tree)
    change(list(ast.walk(made))[number], made)
    return made


def _changes(node: ast.AST, tree: ast.Module) -> Iterator[_Change]:
    if isinstance(node, ast.FunctionDef):
        if _is_inlined(node, tree):
            yield _inline
        yield from (partial(_drop_parameter, at) for at in range(len(node.args.args)))
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name) and len(_uses(tree, target.id)) == 2:
            yield _substitute
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            yield from (partial(_drop_pair, at) for at in range(len(target.elts)))
    for name, value in ast.iter_fields(node):
        yield from _smaller(node, name, value)


def _smaller(node: ast.AST, name: str, value: object) -> Iterator[_Change]:
    """A field of a node, or an element of it, without something."""
    if isinstance(value, ast.expr):
        yield from (partial(_replace, name, None, part) for part in range(len(_parts(value))))
    if not isinstance(value, list) or isinstance(node, ast.arguments):
        return
    if name in _LISTS and len(value) > _LISTS[name]:
        yield from (partial(_drop, name, at) for at in range(len(value)))
    for at, each in enumerate(value):
        if isinstance(each, ast.expr):
            yield from (partial(_replace, name, at, part) for part in range(len(_parts(each))))


def _parts(value: ast.expr) -> list[ast.expr]:
    """Expressions that may stand for one that they are part of."""
    match value:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.BoolOp(values=values):
            return values
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Call(args=args):
            return [each for each in args if not isinstance(each, ast.Starred)]
    return []


# ── changes ──


def _drop(name: str, at: int, node: ast.AST, tree: ast.Module) -> None:
    del getattr(node, name)[at]


def _replace(name: str, at: int | None, part: int, node: ast.AST, tree: ast.Module) -> None:
    held = getattr(node, name)
    if at is None:
        setattr(node, name, _parts(held)[part])
    else:
        held[at] = _parts(held[at])[part]


def _drop_pair(at: int, node: ast.AST, tree: ast.Module) -> None:
    """`a, b = c, d` without a and c, or b and d."""
    assert isinstance(node, ast.Assign)
    target, value = node.targets[0], node.value
    assert isinstance(target, ast.Tuple)
    assert isinstance(value, ast.Tuple)
    for each in (target, value):
        del each.elts[at : at + 1]
    if len(target.elts) == len(value.elts) == 1:
        node.targets[0], node.value = target.elts[0], value.elts[0]


def _drop_parameter(at: int, node: ast.AST, tree: ast.Module) -> None:
    """A parameter, its default, and what calls and launches give for it."""
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args
    name, first = arguments.args[at].arg, len(arguments.args) - len(arguments.defaults)
    del arguments.args[at]
    if at >= first:
        del arguments.defaults[at - first]
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _called(call.func) == node.name:
            del call.args[at : at + 1]
            call.keywords = [each for each in call.keywords if each.arg != name]


def _called(function: ast.expr) -> str:
    """Whose arguments a call of this has: of `f`, `f.launch`, `f.over(n)` or `f[count, dim]`: f."""
    match function:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute != "over":
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="over")):
            return name
        case ast.Subscript(value=ast.Name(id=name)):
            return name
    return ""


def _substitute(node: ast.AST, tree: ast.Module) -> None:
    """The value of a variable where it is read."""
    assert isinstance(node, ast.Assign)
    target = node.targets[0]
    assert isinstance(target, ast.Name)
    _put(tree, node, [])
    _Substitution(target.id, node.value).visit(tree)


class _Substitution(ast.NodeTransformer):
    """A value in the place of each reading of a name."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self._name = name
        self._value = value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._value if node.id == self._name else node


def _is_inlined(function: ast.FunctionDef, tree: ast.Module) -> bool:
    """Whether its one use is a statement, and it returns at its end if at all."""
    plain = ast.arguments(
        posonlyargs=[], args=function.args.args, kwonlyargs=[], kw_defaults=[],
        defaults=function.args.defaults,
    )  # fmt: skip
    *before, _ = function.body
    returns = [each for step in before for each in ast.walk(step) if isinstance(each, ast.Return)]
    return (
        not function.decorator_list
        and not returns
        and ast.dump(plain) == ast.dump(function.args)
        and len(_uses(tree, function.name)) == 1
        and _statement_of(function, tree) is not None
    )


def _statement_of(function: ast.FunctionDef, tree: ast.Module) -> ast.Expr | ast.Assign | None:
    """The statement `f(…)` or `a = f(…)`."""
    for _, _, body in bodies(tree):
        for statement in body:
            match statement:
                case (
                    ast.Expr(value=ast.Call(func=ast.Name(id=name), args=args, keywords=[]))
                    | ast.Assign(value=ast.Call(func=ast.Name(id=name), args=args, keywords=[]))
                ) if name == function.name and len(args) == len(function.args.args):
                    return statement
    return None


def _inline(node: ast.AST, tree: ast.Module) -> None:
    """The body of a function where it is called, after its parameters as variables."""
    assert isinstance(node, ast.FunctionDef)
    statement = _statement_of(node, tree)
    assert statement is not None
    assert isinstance(statement.value, ast.Call)
    made: list[ast.stmt] = [
        ast.Assign(targets=[ast.Name(parameter.arg, ast.Store())], value=given, lineno=0)
        for parameter, given in zip(node.args.args, statement.value.args, strict=True)
    ]
    made += node.body
    result: ast.expr = ast.Constant(value=None)
    if isinstance(made[-1], ast.Return):
        result = made.pop().value or result  # type: ignore[attr-defined]  # a Return's
    if isinstance(statement, ast.Assign):
        statement.value = result
        made.append(statement)
    _put(tree, statement, made)
    _put(tree, node, [])


def _put(tree: ast.Module, old: ast.stmt, new: list[ast.stmt]) -> None:
    """Statements in the place of one."""
    for node, _, body in bodies(tree):
        for at, statement in enumerate(body):
            if statement is old:
                body[at : at + 1] = new
                if not body and not isinstance(node, ast.Module):
                    body.append(ast.Pass())
                return


def _uses(tree: ast.Module, name: str) -> list[ast.AST]:
    """Where a name is read or bound; a parameter of that name counts for several."""
    found: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name:
            found.append(node)
        elif isinstance(node, ast.arg) and node.arg == name:
            found += [node, node, node]
    return found
