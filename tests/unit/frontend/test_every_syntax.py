"""Every class of Python's syntax tree is lowered or refused by an error of our own."""

import ast
import itertools
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import frontend, ir
from cubepy.errors import SourceError

BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&",
    ast.FloorDiv: "//", ast.MatMult: "@",
}  # fmt: skip
UNARY = {ast.Invert: "~", ast.Not: "not ", ast.UAdd: "+", ast.USub: "-"}
COMPARISONS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
EXPRESSIONS = {
    ast.BoolOp: "t[0] and t[1]", ast.NamedExpr: "(a := n[0])", ast.BinOp: "n[0] + 1",
    ast.UnaryOp: "-n[0]", ast.Lambda: "lambda: n[0]", ast.IfExp: "n[0] if t[0] else 1",
    ast.Dict: "{1: n[0]}", ast.Set: "{n[0]}", ast.ListComp: "[n[a] for a in (1, 2)]",
    ast.SetComp: "{n[a] for a in (1, 2)}", ast.DictComp: "{a: n[a] for a in (1, 2)}",
    ast.GeneratorExp: "sum(n[a] for a in (1, 2))", ast.Await: "(await n[0])",
    ast.Yield: "(yield n[0])", ast.YieldFrom: "(yield from n)", ast.Compare: "n[0] < 1",
    ast.Call: "abs(n[0])", ast.FormattedValue: "f'{n[0]}'", ast.JoinedStr: "f'{n[0]}'",
    ast.Constant: "b'bytes'", ast.Attribute: "n.shape", ast.Subscript: "n[0]",
    ast.Starred: "(*n,)", ast.Name: "undefined", ast.List: "[n[0], 1]", ast.Tuple: "(n[0], 1)",
    ast.Slice: "n[1:2]",
    "TemplateStr": "t'{n[0]}'", "Interpolation": "t'{n[0]}'",
}  # fmt: skip
STATEMENTS = {
    ast.FunctionDef: "def f():\n  return 1", ast.AsyncFunctionDef: "async def f():\n  return 1",
    ast.ClassDef: "class C:\n  pass", ast.Return: "return n[0]", ast.Delete: "del n[0]",
    ast.Assign: "n[0] = n[1] = 2", ast.AugAssign: "n[0] += 1", ast.AnnAssign: "a: cb.i32 = n[0]",
    ast.For: "for a in n:\n  pass", ast.AsyncFor: "async for a in n:\n  pass",
    ast.While: "while t[0]:\n  break", ast.If: "if t[0]:\n  pass",
    ast.With: "with n[0]:\n  pass", ast.AsyncWith: "async with n[0]:\n  pass",
    ast.Match: "match n[0]:\n  case 1:\n    pass", ast.Raise: "raise ValueError(n[0])",
    ast.Try: "try:\n  n[0] = 1\nfinally:\n  pass", "TryStar": "try:\n  pass\nexcept* E:\n  pass",
    ast.Assert: "assert n[0]", ast.Import: "import math", ast.ImportFrom: "from math import pi",
    ast.Global: "global n2", ast.Nonlocal: "nonlocal cb", ast.Expr: "n[0]", ast.Pass: "pass",
    ast.Break: "for a in (1, 2):\n  break", ast.Continue: "for a in (1, 2):\n  continue",
    "TypeAlias": "type T = int",
}  # fmt: skip
OPERANDS = ("n[0]", "x[0]", "t[0]", "2", "'text'", "None", "(n[0], 1)", "n", "v")
ARGUMENTS = {
    "n": np.ones(4, np.int32), "x": np.ones(4, np.float32), "t": np.ones(4, np.bool_)
}  # fmt: skip
OPTIONS = frontend.LaunchOptions()


def tried(statement: str) -> bool:
    """Lower a statement; gives whether it was right. Errors that are not ours come through."""
    body = "\n".join(f"        {line}" for line in statement.split("\n"))
    text = (
        "def outer(cb):\n    def kernel(n, x, t):\n"
        f"        v = cb.Vector[cb.i32, 2](1, 2)\n{body}\n    return kernel\n"
    )
    names: dict[str, Any] = {"cb": cb}
    try:
        cb.exec(text, names)
    except SyntaxError:
        return False
    try:
        source = frontend.capture(names["outer"](cb))
        ir.verify(
            frontend.lower(source, frontend.specialize(source, ARGUMENTS, OPTIONS)), "lowered"
        )
    except SourceError as error:
        if error.loc.known:
            return False
        raise
    return True


def named(kinds: Any) -> set[str]:
    return {kind if isinstance(kind, str) else kind.__name__ for kind in kinds}


@pytest.mark.parametrize(
    ("base", "listed"),
    [
        (ast.operator, BINARY),
        (ast.unaryop, UNARY),
        (ast.cmpop, COMPARISONS),
        (ast.expr, EXPRESSIONS),
        (ast.stmt, STATEMENTS),
    ],
)
def test_the_lists_are_complete(base: type[ast.AST], listed: Any) -> None:
    deprecated = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis"}
    assert named(base.__subclasses__()) - deprecated <= named(listed)


@pytest.mark.parametrize("sign", list(BINARY.values()))
def test_binary_operators(sign: str) -> None:
    right = [tried(f"a = {p} {sign} {q}") for p, q in itertools.product(OPERANDS, OPERANDS)]
    for operand in OPERANDS:
        tried(f"n[0] {sign}= {operand}")
        tried(f"a = {operand}\na {sign}= n[1]")
    assert any(right) or sign == "@"


@pytest.mark.parametrize("sign", list(UNARY.values()))
def test_unary_operators(sign: str) -> None:
    right = [tried(f"a = {sign}{operand}") for operand in OPERANDS]
    assert any(right)


@pytest.mark.parametrize("sign", list(COMPARISONS.values()))
def test_comparisons(sign: str) -> None:
    right = [tried(f"a = {p} {sign} {q}") for p, q in itertools.product(OPERANDS, OPERANDS)]
    assert any(right)


@pytest.mark.parametrize("expression", list(EXPRESSIONS.values()))
def test_expressions(expression: str) -> None:
    for statement in ("{}", "a = {}", "n[0] = {}", "n[{}] = 1", "n[0] = -{}", "print({})",
                      "for a in {}:\n  pass", "if {}:\n  n[0] = 1", "a = cb.i32({})",
                      "b, c = {}", "return {}", "cb.sqrt({})", "assert {}"):  # fmt: skip
        tried(statement.format(expression))


@pytest.mark.parametrize("statement", list(STATEMENTS.values()))
def test_statements(statement: str) -> None:
    tried(statement)
    indented = statement.replace("\n", "\n  ")
    tried(f"if t[0]:\n  {indented}")
    tried(f"for b in range(n[0]):\n  {indented}")
