"""Collects lines of LLVM IR: fresh names, labels, late insertion points, and the kernel's place of
each line.

An insertion point (:meth:`Writer.hook`) is a list among the lines: what is added to it later comes
out at that place, which is how a broadcast lands right behind the scalar it repeats, however late
it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cubepy.location import UNKNOWN, Loc
from cubepy.records import dataclass, field

__all__ = ["Line", "Lines", "Writer"]

Line = tuple[str, Loc]
Lines = list["Line | Lines"]


@dataclass(slots=True)
class Writer:
    """Lines of one function. `label` is the block being filled; `loc` goes with every line
    written.
    """

    lines: Lines = field(default_factory=list)
    label: str = "entry"
    loc: Loc = UNKNOWN
    _names: int = 0
    _begun: int = 0

    def fresh(self, hint: str = "v") -> str:
        """A name not used before."""
        self._names += 1
        return f"{hint}{self._names}"

    def line(self, text: str) -> None:
        """Add an instruction without a result."""
        self.lines.append(("  " + text, self.loc))

    def value(self, text: str, hint: str = "v") -> str:
        """Add an instruction and return the name of its result."""
        name = "%" + self.fresh(hint)
        self.lines.append((f"  {name} = {text}", self.loc))
        return name

    @property
    def written(self) -> int:
        """Grows with every name and every insertion point: what is older stands further up."""
        return self._names

    def hook(self) -> Lines:
        """An insertion point here."""
        self._names += 1
        inner: Lines = []
        self.lines.append(inner)
        return inner

    @contextmanager
    def at(self, hook: Lines) -> Iterator[None]:
        """Write into an insertion point for a while; only straight-line code may go there."""
        outer, self.lines = self.lines, hook
        try:
            yield
        finally:
            self.lines = outer

    def begin(self, label: str) -> None:
        """Start the block `label`."""
        self.lines.append((f"{label}:", self.loc))
        self.label = label
        self._begun = self._names

    @property
    def block_length(self) -> int:
        """How many names the present block has brought."""
        return self._names - self._begun

    def jump(self, label: str) -> None:
        """End the block with a jump."""
        self.line(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str, *, likely: bool = False) -> None:
        """End the block with a two-way branch on an i1."""
        weights = ", !prof !0" if likely else ""
        self.line(f"br i1 {condition}, label %{yes}, label %{no}{weights}")

    def flatten(self) -> Iterator[Line]:
        """All lines in order."""
        stack: list[Iterator[Line | Lines]] = [iter(self.lines)]
        while stack:
            for item in stack[-1]:
                if isinstance(item, list):
                    stack.append(iter(item))
                    break
                yield item
            else:
                stack.pop()
