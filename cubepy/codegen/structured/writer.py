"""Lines of generated source with the places they come from.

The first line written for a Python line follows a comment with that line's text, so that the two
can be read side by side.
"""

from __future__ import annotations

import linecache
from pathlib import PurePath

from cubepy.location import UNKNOWN, Loc

__all__ = ["SourceWriter"]

_INDENT = "    "
_LONGEST = 100


class SourceWriter:
    """`lines` have a place each. `comment` is what a comment of the language begins with."""

    def __init__(self, comment: str = "//", depth: int = 0) -> None:
        self.lines: list[tuple[str, Loc]] = []
        self.written = 0  # lines that are no comments
        self._comment = comment
        self._depth = depth
        self._loc = UNKNOWN
        self._shown: tuple[str, int] | None = None

    def at(self, loc: Loc) -> None:
        """What is written from here on comes from there."""
        self._loc = loc

    def line(self, text: str) -> None:
        """One line."""
        self.show()
        self.lines.append((_INDENT * self._depth + text, self._loc))
        self.written += 1

    def open(self, head: str) -> int:
        """The first line of a nested part; its number among the lines, for `replace`."""
        self.line(head)
        self._depth += 1
        return len(self.lines) - 1

    def middle(self, text: str) -> int:
        """A line between two nested parts, as `} else {`; its number as from `open`."""
        self._depth -= 1
        self.lines.append((_INDENT * self._depth + text, self._loc))
        self.written += 1
        self._depth += 1
        return len(self.lines) - 1

    def close(self, tail: str = "}") -> None:
        """The last line of a nested part."""
        self._depth -= 1
        self.lines.append((_INDENT * self._depth + tail, UNKNOWN))

    def replace(self, number: int, text: str) -> None:
        """Another text for a line that was written at this depth less one."""
        self.lines[number] = (_INDENT * (self._depth - 1) + text, self.lines[number][1])

    def show(self) -> None:
        """The comment with the Python line, if it was not the last one shown."""
        place = (self._loc.file, self._loc.line)
        if place == self._shown or not self._loc.known:
            return
        self._shown = place
        text = f"{self._comment} {_python_line(self._loc)}"
        self.lines.append((_INDENT * self._depth + text, self._loc))


def _python_line(loc: Loc) -> str:
    """The Python line as a comment: plain ASCII, nothing in it that ends or continues a comment."""
    source = linecache.getline(loc.file, loc.line).strip() or PurePath(loc.file).name
    plain = source.encode("ascii", "backslashreplace").decode("ascii")
    plain = "".join(character if character.isprintable() else " " for character in plain)
    plain = plain.replace("??", "? ?")[:_LONGEST].rstrip("\\ ")
    return f"{loc.line}: {plain}"
