"""Texts of kernels in colour, as HTML for pages and notebooks.

Pygments tells words apart; :data:`STYLE` gives its classes colours for light and dark readers. The
IR has a small lexer of its own, for nobody else knows the language.
"""

from __future__ import annotations

import functools
import html
from collections.abc import Sequence
from typing import Any

from pygments import token
from pygments.lexer import Lexer, RegexLexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

__all__ = ["STYLE", "IrLexer", "highlighted"]


class IrLexer(RegexLexer):  # type: ignore[misc] # pygments has no types
    """The text of the IR, see docs/ir.md."""

    name = "cubepy IR"
    aliases = ("cubepy-ir",)
    tokens = {  # noqa: RUF012 (pygments' own form)
        "root": [
            (r"\b(kernel|function|if|else|for|while|do|block|cube_dim|options)\b", token.Keyword),
            (r"%[\w.]+", token.Name.Variable),
            (r"@[\w.]+", token.Name.Function),
            (r'"(\\.|[^"\\])*"', token.String),
            (r"\b(bool|index|[iuf]\d+|bf16|global|shared|private|slot)\b", token.Keyword.Type),
            (r"-?\b\d[\w.+-]*", token.Number),
            (r"\b[a-z_]\w*(?==)", token.Name.Attribute),
            (r"\b[a-z_]\w*\b", token.Name.Builtin),
            (r"[^\w%@\"\s]+", token.Punctuation),
            (r"\s+", token.Whitespace),
            (r".", token.Text),
        ]
    }


# Languages of targets and stages, by what pygments calls them.
_LEXERS = {"llvm": "llvm", "asm": "gas", "opencl": "c", "python": "python", "wgsl": "wgsl"}
# Those in which nothing reaches from one line into the next.
_BY_LINE = frozenset({"ir", "llvm", "asm"})
_CLASSES: Sequence[tuple[Any, str]] = (
    (token.Comment, "c"), (token.Keyword.Type, "t"), (token.Name.Attribute, "a"),
    (token.Keyword, "k"), (token.Name.Variable, "v"), (token.Name.Function, "f"),
    (token.Name.Builtin, "b"), (token.Name.Label, "l"), (token.String, "s"), (token.Number, "n"),
    (token.Operator.Word, "k"),
)  # fmt: skip
#: Colours by class, to be put where `--c-…` are defined; all have a contrast of 4.5 and more.
STYLE = """
:root, .cubepy { color-scheme: light dark; }
.hc { color: light-dark(#59636d, #9aa6b2); font-style: italic; }
.ht { color: light-dark(#0b6e7f, #5cc8d8); }
.ha, .hb { color: light-dark(#444a52, #c3cad3); }
.hk { color: light-dark(#8a2be2, #c792ea); font-weight: 600; }
.hv { color: light-dark(#1c5bb0, #82b1ff); }
.hf { color: light-dark(#93500b, #f0b060); font-weight: 600; }
.hl { color: light-dark(#93500b, #f0b060); }
.hs { color: light-dark(#1d6f2b, #9ece6a); }
.hn { color: light-dark(#a3361d, #ff9e7a); }
"""


def highlighted(text: str, language: str) -> list[str]:
    """Each line as HTML, with spans of the classes in STYLE; plain for a language not known."""
    if language not in _BY_LINE:
        return _coloured(text, language)
    return [_coloured_line(line, language) for line in text.split("\n")]


@functools.lru_cache(maxsize=1 << 16)
def _coloured_line(text: str, language: str) -> str:
    """One line; most of those behind a pass were there before it."""
    return _coloured(text, language)[0]


def _coloured(text: str, language: str) -> list[str]:
    lines = [""]
    for kind, value in _lexer(language).get_tokens(text):
        name = _class_of(kind)
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append("")
            if part:
                escaped = html.escape(part, quote=False)
                lines[-1] += f'<span class="h{name}">{escaped}</span>' if name else escaped
    count = text.count("\n") + 1
    return (lines + [""] * count)[:count]


@functools.cache
def _class_of(kind: Any) -> str:
    """The class of a kind of token, "" for those without a colour."""
    return next((name for known, name in _CLASSES if kind in known), "")


@functools.cache
def _lexer(language: str) -> Lexer:
    options = {"stripnl": False, "ensurenl": False}
    if language == "ir":
        return IrLexer(**options)
    try:
        return get_lexer_by_name(_LEXERS.get(language, language), **options)
    except ClassNotFound:
        return get_lexer_by_name("text", **options)
