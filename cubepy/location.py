"""Where a piece of a kernel stands in the user's source, and how to show it.

A :class:`Loc` is a span of one file; every IR op carries one to the end, so that any later stage
can point at the user's own line. :func:`excerpt` turns it into the source line with carets. Nothing
here knows Python's `ast` or the IR.
"""

from __future__ import annotations

import linecache

from cubepy.records import dataclass, fields, replace

__all__ = ["UNKNOWN", "Loc", "byte_offset", "excerpt", "line_of", "text_at"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loc:
    """A span of source text: lines count from 1, columns from 0, the end column is exclusive.

    `inlined_at` is the place of the call through which this code was reached, or None.
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    function: str = ""
    inlined_at: Loc | None = None

    # As many are made as ops, and what records make takes more than half as long again.
    def __init__(
        self,
        *,
        file: str,
        line: int,
        column: int = 0,
        end_line: int = 0,
        end_column: int = 0,
        function: str = "",
        inlined_at: Loc | None = None,
    ) -> None:
        _set_file(self, file)
        _set_line(self, line)
        _set_column(self, column)
        _set_end_line(self, end_line)
        _set_end_column(self, end_column)
        _set_function(self, function)
        _set_inlined_at(self, inlined_at)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"

    def called_from(self, call: Loc) -> Loc:
        """This place, reached through `call`; an existing chain is extended at its outer end."""
        if self.inlined_at is None:
            return replace(self, inlined_at=call)
        return replace(self, inlined_at=self.inlined_at.called_from(call))

    @property
    def known(self) -> bool:
        """Whether there is a place to show."""
        return self.line > 0


# The fields, past the refusal to be assigned.
_SETTERS = [vars(Loc)[each.name].__set__ for each in fields(Loc)]
_set_file, _set_line, _set_column, _set_end_line, _set_end_column, *_rest = _SETTERS
_set_function, _set_inlined_at = _rest

UNKNOWN = Loc(file="<unknown>", line=0)


def _caret_line(source: str, loc: Loc) -> str:
    """Spaces and carets under the span; wide characters before it keep their width through tabs
    only.
    """
    width = len(source.rstrip())
    last = loc.end_column if loc.end_line in (0, loc.line) else width
    start = min(loc.column, width)
    length = max(1, min(max(last, start + 1), max(width, start + 1)) - start)
    lead = "".join("\t" if character == "\t" else " " for character in source[:start])
    return lead + "^" * length


def line_of(file: str, line: int) -> str:
    """A line of source without its end; empty if the text is not to be had."""
    return linecache.getline(file, line).rstrip("\n")


def text_at(loc: Loc) -> str:
    """What stands at a place of one line; empty if it has several or is not to be had."""
    if not loc.known or loc.end_line not in (0, loc.line):
        return ""
    return line_of(loc.file, loc.line)[loc.column : loc.end_column].strip()


def byte_offset(file: str, line: int, column: int) -> int:
    """A column, which counts characters, in bytes of UTF-8 as Python's own places do."""
    text = line_of(file, line)
    return column if text.isascii() else len(text[:column].encode())


def excerpt(loc: Loc) -> str:
    """The source line of `loc` with its number and carets below the span, or "" if the text is not
    to be had.
    """
    source = line_of(loc.file, loc.line) if loc.known else ""
    if not source.strip():
        return ""
    number = f"{loc.line:>5} | "
    return f"{number}{source}\n{' ' * (len(number) - 2)}| {_caret_line(source, loc)}"
