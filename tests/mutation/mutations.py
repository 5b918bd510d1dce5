"""Random changes of a kernel's source: of its syntax tree, and of its tokens.

`mutated` gives a text that Python itself accepts. What changes is what people get wrong: statements
lost, doubled or swapped, other operators, names, constants, annotations and arguments, syntax that
kernels do not have, pieces of other kernels. A seed always gives the same text.
"""

from __future__ import annotations

import ast
import copy
import io
import random
import tokenize
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.mutation.pieces import (
    ANNOTATIONS,
    ATTRIBUTES,
    CONSTANTS,
    NAMES,
    STATEMENTS,
    TOKENS,
    WRAPPERS,
)

__all__ = ["mutated"]

ATTEMPTS = 50

_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift,
    ast.BitAnd, ast.BitOr, ast.BitXor, ast.MatMult,
)  # fmt: skip
_COMPARISONS = (
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn,
)  # fmt: skip
_UNARY = (ast.USub, ast.UAdd, ast.Invert, ast.Not)

Mutation = Callable[[random.Random, ast.Module, Sequence[ast.Module]], None]


def mutated(text: str, donors: Sequence[str], seed: int) -> str:
    """A changed text that Python compiles; `donors` are texts to take pieces from."""
    rng = random.Random(seed)
    for _ in range(ATTEMPTS):
        steps = rng.choice((1, 1, 1, 2, 2, 3, 5))
        if rng.random() < 0.2:
            changed = _change_tokens(rng, text, steps)
        else:
            changed = _change_tree(rng, text, donors, steps)
        if changed != text and _is_python(changed):
            return changed
    return text


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(text, "<mutation>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError):
        return False
    return True


# ── tokens ───────────────────────────────────────────────────────────────────────────────────────


def _change_tokens(rng: random.Random, text: str, steps: int) -> str:
    try:
        tokens = [(token.type, token.string)
                  for token in tokenize.generate_tokens(io.StringIO(text).readline)]  # fmt: skip
    except (tokenize.TokenError, SyntaxError):
        return text
    for _ in range(steps):
        places = [at for at, (kind, _) in enumerate(tokens)
                  if kind in (tokenize.NAME, tokenize.OP, tokenize.NUMBER)]  # fmt: skip
        at, other = rng.choice(places), rng.choice(places)
        match rng.randrange(5):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, tokens[at])
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] = tokens[other]
            case _:
                tokens.insert(at, (tokenize.OP, rng.choice(TOKENS)))
    try:
        return str(tokenize.untokenize(tokens))
    except (ValueError, IndexError):
        return text


# ── trees ────────────────────────────────────────────────────────────────────────────────────────


def _change_tree(rng: random.Random, text: str, donors: Sequence[str], steps: int) -> str:
    tree = ast.parse(text)
    others = [tree, *(ast.parse(donor) for donor in rng.sample(donors, min(2, len(donors))))]
    for _ in range(steps):
        change = rng.choices(_MUTATIONS, _WEIGHTS)[0]
        try:
            change(rng, tree, others)
        except (IndexError, ValueError, SyntaxError):
            continue  # nothing of the kind here, or not on this Python
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return text  # a tree that no text has


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node


def _nodes(tree: ast.Module, kind: type[ast.AST]) -> list[Any]:
    """Nodes of a kind inside the bodies of functions."""
    return [node for function in _functions(tree) for statement in function.body
            for node in ast.walk(statement) if isinstance(node, kind)]  # fmt: skip


def _lists(tree: ast.Module) -> list[list[ast.stmt]]:
    found: list[list[ast.stmt]] = []
    for function in _functions(tree):
        for node in ast.walk(function):
            for name in ("body", "orelse", "finalbody"):
                value = getattr(node, name, None)
                if isinstance(value, list) and value:
                    found.append(value)
    return found


def _slots(tree: ast.Module) -> list[tuple[ast.AST, str, int | None]]:
    """Every place in a body that holds an expression: owner, field, and number in a list."""
    found: list[tuple[ast.AST, str, int | None]] = []
    for owner in _nodes(tree, ast.AST):
        for name, value in ast.iter_fields(owner):
            if isinstance(value, ast.expr):
                found.append((owner, name, None))
            elif isinstance(value, list):
                found += [(owner, name, at) for at, item in enumerate(value)
                          if isinstance(item, ast.expr)]  # fmt: skip
    return found


def _get(slot: tuple[ast.AST, str, int | None]) -> ast.expr:
    owner, name, at = slot
    value = getattr(owner, name)
    found: ast.expr = value if at is None else value[at]
    return found


def _put(slot: tuple[ast.AST, str, int | None], value: ast.expr) -> None:
    owner, name, at = slot
    if at is None:
        setattr(owner, name, value)
    else:
        getattr(owner, name)[at] = value


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _delete_statement(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    body = rng.choice(_lists(tree))
    body.pop(rng.randrange(len(body)))
    if not body:
        body.append(ast.Pass())


def _double_statement(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    body = rng.choice(_lists(tree))
    target = rng.choice(_lists(tree))
    target.insert(rng.randrange(len(target) + 1), copy.deepcopy(rng.choice(body)))


def _swap_statements(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    first, second = rng.choice(_lists(tree)), rng.choice(_lists(tree))
    a, b = rng.randrange(len(first)), rng.randrange(len(second))
    one, other = copy.deepcopy(first[a]), copy.deepcopy(second[b])
    first[a], second[b] = other, one


def _insert_statement(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    made = ast.parse(rng.choice(STATEMENTS)).body
    body = rng.choice(_lists(tree))
    at = rng.randrange(len(body) + 1)
    body[at:at] = made


def _borrow_statement(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    body = rng.choice(_lists(tree))
    borrowed = copy.deepcopy(rng.choice(rng.choice(_lists(rng.choice(others)))))
    body.insert(rng.randrange(len(body) + 1), borrowed)


def _indent_statement(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    """Put a statement under a condition or a loop."""
    body = rng.choice(_lists(tree))
    at = rng.randrange(len(body))
    head = rng.choice(("if i:", "if i < 3:", "if True:", "while i < 3:", "while True:",
                       "for k in range(3):", "for k in cb.unroll(range(2)):", "for i in range(i):",
                       "if not (a := i < 2):", "with x:", "try:"))  # fmt: skip
    tail = "\nexcept ValueError: pass" if head == "try:" else ""
    made: Any = ast.parse(f"{head} pass{tail}").body[0]
    made.body = [body[at]]
    body[at] = made


def _replace_operator(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    node = rng.choice(_nodes(tree, ast.BinOp) + _nodes(tree, ast.AugAssign))
    node.op = rng.choice(_OPERATORS)()


def _replace_comparison(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    node = rng.choice(_nodes(tree, ast.Compare))
    node.ops[rng.randrange(len(node.ops))] = rng.choice(_COMPARISONS)()


def _replace_name(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    node = rng.choice(_nodes(tree, ast.Name))
    own = [name.id for name in _nodes(tree, ast.Name)]
    node.id = rng.choice(own if rng.random() < 0.6 else NAMES)


def _replace_attribute(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    rng.choice(_nodes(tree, ast.Attribute)).attr = rng.choice(ATTRIBUTES)


def _replace_constant(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    rng.choice(_nodes(tree, ast.Constant)).value = rng.choice(CONSTANTS)


def _replace_expression(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    slot = rng.choice(_slots(tree))
    source = rng.choice(_slots(rng.choice(others)))
    _put(slot, copy.deepcopy(_get(source)))


def _constant_expression(rng: random.Random, tree: ast.Module, o: Sequence[ast.Module]) -> None:
    _put(rng.choice(_slots(tree)), ast.Constant(rng.choice(CONSTANTS)))


def _wrap_expression(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    slot = rng.choice(_slots(tree))
    inner = ast.unparse(_get(slot))
    _put(slot, _expression(f"({rng.choice(WRAPPERS).format(inner)})"))


def _change_call(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    call = rng.choice(_nodes(tree, ast.Call))
    match rng.randrange(5):
        case 0:
            call.args.pop(rng.randrange(len(call.args)))
        case 1:
            call.args.append(copy.deepcopy(_get(rng.choice(_slots(tree)))))
        case 2:
            name = rng.choice(("value", "where", "order", "fill", "x", "undefined", None))
            call.keywords.append(ast.keyword(name, copy.deepcopy(_get(rng.choice(_slots(tree))))))
        case 3:
            at = rng.randrange(len(call.args))
            call.args[at] = ast.Starred(call.args[at], ast.Load())
        case _:
            rng.shuffle(call.args)


def _change_annotation(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    function = rng.choice(list(_functions(tree)))
    wanted = _expression(rng.choice(ANNOTATIONS))
    if rng.random() < 0.15:
        function.returns = wanted
        return
    argument = rng.choice([*function.args.args, *function.args.kwonlyargs])
    argument.annotation = None if rng.random() < 0.2 else wanted


def _change_parameters(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    arguments = rng.choice(list(_functions(tree))).args
    match rng.randrange(5):
        case 0:
            arguments.args.append(ast.arg(rng.choice(("extra", "cb", "len", "self"))))
            arguments.defaults.append(ast.Constant(rng.choice(CONSTANTS)))
        case 1:
            arguments.vararg = ast.arg("rest")
        case 2:
            arguments.kwarg = ast.arg("rest")
        case 3:
            arguments.kwonlyargs.append(ast.arg("extra"))
            arguments.kw_defaults.append(ast.Constant(rng.choice(CONSTANTS)))
        case _:
            arguments.args[rng.randrange(len(arguments.args))].arg = rng.choice(("y", "min", "cb"))


def _change_target(rng: random.Random, tree: ast.Module, others: Sequence[ast.Module]) -> None:
    statement = rng.choice(_nodes(tree, ast.Assign) + _nodes(tree, ast.For))
    made = ast.parse(rng.choice(("a", "a, b", "a[0]", "a.b", "(a, (b, c))", "[a, *b]", "x[i]",
                                 "x[0], x[1]", "x[0:2]")) + " = 0").body[0]  # fmt: skip
    assert isinstance(made, ast.Assign)
    if isinstance(statement, ast.For):
        statement.target = made.targets[0]
    else:
        statement.targets[0] = made.targets[0]


_WEIGHED: tuple[tuple[Mutation, int], ...] = (
    (_delete_statement, 4),
    (_double_statement, 3),
    (_swap_statements, 3),
    (_insert_statement, 6),
    (_borrow_statement, 3),
    (_indent_statement, 4),
    (_replace_operator, 4),
    (_replace_comparison, 3),
    (_replace_name, 6),
    (_replace_attribute, 3),
    (_replace_constant, 5),
    (_replace_expression, 5),
    (_constant_expression, 3),
    (_wrap_expression, 12),
    (_change_call, 5),
    (_change_annotation, 3),
    (_change_parameters, 2),
    (_change_target, 2),
)
_MUTATIONS = [change for change, _ in _WEIGHED]
_WEIGHTS = [weight for _, weight in _WEIGHED]
