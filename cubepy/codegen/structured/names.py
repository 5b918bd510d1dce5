"""Names of generated code: the user's own where the language permits, else something like them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

__all__ = ["HELPER", "Names", "identifier"]

# What the names of our own helper functions begin with, and no name of the user's.
HELPER = "cb_"
_LONGEST = 64


def identifier(hint: str) -> str:
    """A name of letters, digits and underscores like `hint`, never empty, no underscore in front.

    Letters with accents lose them; others become their number, so that different names stay so.
    """
    plain = unicodedata.normalize("NFKD", hint)
    kept = "".join(
        character
        if character.isascii()
        else ("" if unicodedata.combining(character) else f"u{ord(character):x}")
        for character in plain
    )
    words = re.sub(r"[^A-Za-z0-9]+", "_", kept).strip("_")[:_LONGEST].rstrip("_")
    if not words or not words[0].isalpha() or words.startswith(HELPER):
        return f"v_{words}" if words else "v"
    return words


class Names:
    """Names given out so far; `reserved` ones are never."""

    def __init__(self, reserved: Collection[str]) -> None:
        self._taken = set(reserved)
        self._next: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        """A name like `hint` that nobody has."""
        base = identifier(hint)
        name, number = base, self._next.get(base, 0)
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._next[base] = number
        self._taken.add(name)
        return name

    def reserve(self, name: str) -> None:
        """Give a name to nobody."""
        self._taken.add(name)

    def family(self, hint: str, endings: Collection[str]) -> str:
        """A name like `hint` that nobody has, nor one with an ending; those are given out too."""
        while True:
            name = self.fresh(hint)
            others = {f"{name}{ending}" for ending in endings}
            if self._taken.isdisjoint(others):
                self._taken |= others
                return name

    def inner(self) -> Names:
        """Names inside a function, none of which hides one given out so far."""
        return Names(self._taken)
