"""`&` and `|` beside a comparison: they bind tighter in Python, which NumPy's users forget.

`x > 1 & x < 3` compares `x > (1 & x) < 3`. Where that makes no sense it is an error that says so;
where it does, in a chain, a warning.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from cubepy.errors import CubeSyntaxError, Diagnostic, SourceError
from cubepy.frontend.frame import Frame
from cubepy.frontend.source import SourceText

__all__ = ["bare_bitwise", "explained"]

_WORDS: dict[type[ast.operator], tuple[str, str]] = {
    ast.BitAnd: ("&", "and"),
    ast.BitOr: ("|", "or"),
}


def bare_bitwise(text: SourceText, node: ast.Compare) -> ast.BinOp | None:
    """An operand of a comparison that is `a & b` or `a | b` without brackets of its own."""
    operands = [node.left, *node.comparators]
    tight = (each for each in operands if isinstance(each, ast.BinOp) and type(each.op) in _WORDS)
    return next((each for each in tight if not _in_brackets(text, each)), None)


def _in_brackets(text: SourceText, node: ast.expr) -> bool:
    """Whether an operand of a comparison has brackets around it: what surrounds it tells."""
    lines = text.lines
    before = lines[node.lineno - 1].encode()[: node.col_offset].decode().rstrip()
    end = lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset or 0 :].decode()
    return before.endswith("(") and end.lstrip().startswith(")")


@contextmanager
def explained(frame: Frame, node: ast.Compare, tight: ast.BinOp) -> Iterator[None]:
    """Let an error about a comparison say how it was read; warn of a chain that makes sense."""
    symbol, word = _WORDS[type(tight.op)]
    message = f"`{symbol}` binds tighter than a comparison: this reads {_as_read(node)}"
    advice = f"write `{word}`, or brackets around each comparison"
    known = len(frame.session.complaints)
    try:
        yield
    except SourceError as error:
        raise frame.error(CubeSyntaxError, message, node, advice) from error
    if len(node.ops) > 1 and len(frame.session.complaints) == known:
        frame.session.warn(Diagnostic(message=message, loc=frame.loc(node), help=advice))


def _as_read(node: ast.Compare) -> str:
    """The comparison with brackets where Python has them."""
    operands = [
        f"({ast.unparse(each)})" if isinstance(each, ast.BinOp) else ast.unparse(each)
        for each in (node.left, *node.comparators)
    ]
    compared = ast.unparse(ast.Compare(ast.Name("_"), node.ops, [ast.Name("_")] * len(node.ops)))
    parts = compared.split("_")
    return "".join(part + operand for part, operand in zip(parts, operands, strict=False))
