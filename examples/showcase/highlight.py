"""Colour for listings: HTML in which words, names, numbers and texts carry a class.

Regular expressions suffice: what they match is escaped and wrapped, the rest is escaped.
"""

import html
import keyword
import re

__all__ = ["assembly", "ir", "python"]

_PYTHON = re.compile(
    r'(?P<text>"""(?s:.*?)"""|"[^"\n]*"|\'[^\'\n]*\')'
    r"|(?P<remark>#[^\n]*)"
    r"|(?P<name>@\w+(?:\.\w+)*|(?<=def )\w+)"
    rf"|(?P<word>\b(?:{'|'.join(keyword.kwlist)})\b)"
    r"|(?P<number>\b\d[\d_]*(?:\.\d+)?(?:e-?\d+)?\b)"
)
_IR = re.compile(
    r"(?P<name>[%@][\w.]+)"
    r"|(?P<word>\b(?:kernel|function|if|else|for|while|break|continue|return|yield|leave|call)\b)"
    r"|(?P<remark>\[[^\]\n]*=[^\]\n]*\])"
    r"|(?P<number>-?\b\d+(?:\.\d+)?(?:e[-+]?\d+)?\b)"
)
_ASSEMBLY = re.compile(
    r"(?P<remark>^[.\w$]+:|(?<=\s)\.L\w+$)"
    r"|(?P<word>^\s+[a-z]\w*)"
    r"|(?P<name>%\w+)"
    r"|(?P<number>\$?-?\b\d+\b)",
    re.MULTILINE,
)


def python(source: str) -> str:
    """Python source as HTML."""
    return _marked(_PYTHON, source)


def ir(text: str) -> str:
    """Printed IR as HTML."""
    return _marked(_IR, text)


def assembly(text: str) -> str:
    """Assembly as HTML."""
    return _marked(_ASSEMBLY, text)


def _marked(pattern: re.Pattern[str], text: str) -> str:
    pieces, end = [], 0
    for match in pattern.finditer(text):
        pieces.append(html.escape(text[end : match.start()]))
        pieces.append(f'<span class="{match.lastgroup}">{html.escape(match.group())}</span>')
        end = match.end()
    return "".join([*pieces, html.escape(text[end:])])
