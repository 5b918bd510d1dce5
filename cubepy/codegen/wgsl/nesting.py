"""How deep the branches of a text are nested, as a driver sees them.

Some drivers ignore conditions that are nested deeper than they have room for (Mesa's llvmpipe: 80,
`LP_MAX_TGSI_NESTING`). Drivers write functions out where they are called, take an `else if` for a
branch inside the `else`, and put what stands behind an early `return` inside of a branch of its
own. So does an early `break` from a `switch`.
"""

from __future__ import annotations

import re

from cubepy.records import dataclass, field

__all__ = ["deepest_nesting", "has_loops"]

_LOOPS = ("loop", "while", "for")
_LOOP = re.compile(rf"^(?:(?!//).)*\b(?:{'|'.join(_LOOPS)})\b", re.MULTILINE)
_TOKEN = re.compile(
    r"//[^\n]*|\bfn\s+(?P<function>\w+)|(?P<brace>[{}])"
    r"|\b(?P<word>else|if|loop|while|for|switch|default|return|break)\b|(?P<called>\w+)\("
)


def has_loops(text: str) -> bool:
    """Whether there is a loop in a text."""
    return _LOOP.search(text) is not None


def deepest_nesting(text: str) -> int:
    """Branches and loops around the innermost statement of a text, at most."""
    reader = _Reader()
    for token in _TOKEN.finditer(text):
        if not token[0].startswith("//"):
            reader.read(token)
    known: dict[str, int] = {}
    return max((_with_calls(name, reader.functions, known) for name in reader.functions), default=0)


@dataclass(slots=True)
class _Function:
    """`deepest`: without what it calls; `calls`: how deep each called function is called."""

    deepest: int = 0
    calls: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Frame:
    """An open brace: branches that it adds, and those that early exits inside of it have added.

    `leaves` are the words of exits inside that go beyond it.
    """

    word: str
    added: int
    exits: int = 0
    leaves: set[str] = field(default_factory=set)

    @property
    def breaks(self) -> bool:
        """Whether a `break` inside leaves it."""
        return self.word in (*_LOOPS, "switch")


class _Reader:
    """Reads the tokens of a text in turn."""

    def __init__(self) -> None:
        self.functions: dict[str, _Function] = {}
        self._function = _Function()
        self._frames: list[_Frame] = []
        self._closed: _Frame | None = None  # what an `else` would go on
        self._chained = 0
        self._word = ""

    def read(self, token: re.Match[str]) -> None:
        """One more."""
        word = token["word"]
        if word == "else":
            assert self._closed is not None
            self._chained = self._closed.added
        elif word == "if" and self._word == "else":
            self._chained += 1
        elif not self._chained:
            self._settle()
        if word in ("return", "break"):
            self._frames[-1].leaves.add(word)
        elif token["function"]:
            self._function = self.functions.setdefault(token["function"], _Function())
        elif token["called"]:
            calls, name = self._function.calls, token["called"]
            calls[name] = max(calls.get(name, 0), self._depth)
        elif token["brace"] == "{":
            self._open()
        elif token["brace"]:
            self._closed = self._frames.pop()
        self._word = word or token["brace"] or self._word

    @property
    def _depth(self) -> int:
        return sum(frame.added + frame.exits for frame in self._frames)

    def _open(self) -> None:
        added = (self._chained or 1) if self._frames else 0  # the body of a function adds nothing
        frame = _Frame(word=self._word, added=added)
        if self._chained and self._closed is not None:
            frame.leaves |= self._closed.leaves
        self._frames.append(frame)
        self._closed, self._chained = None, 0
        self._note()

    def _settle(self) -> None:
        """What was closed last is not gone on with: what follows stands behind its exits."""
        closed, self._closed = self._closed, None
        if closed is None or not self._frames:
            return
        leaves = closed.leaves - ({"break"} if closed.breaks else set())
        self._frames[-1].leaves |= leaves
        around = next((each.word for each in reversed(self._frames) if each.breaks), "")
        self._frames[-1].exits += "return" in leaves or ("break" in leaves and around == "switch")
        self._note()

    def _note(self) -> None:
        self._function.deepest = max(self._function.deepest, self._depth)


def _with_calls(name: str, functions: dict[str, _Function], known: dict[str, int]) -> int:
    """Of a function, what it calls written out."""
    if name not in known:
        function = functions[name]
        inside = (
            at + _with_calls(called, functions, known)
            for called, at in function.calls.items()
            if called in functions
        )
        known[name] = max(function.deepest, *inside, 0)
    return known[name]
