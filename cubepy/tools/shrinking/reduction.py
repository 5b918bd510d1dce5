"""Taking statements out of a script as long as a predicate holds of what is left.

Large pieces are tried first, wherever they stand, then smaller ones: a statement with all that is
in it, several in a row, a block in the place of the statement that holds it; then what is in the
statements that are left, see `edits`. Each success begins from where it was found, and no text is
tried twice.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from cubepy.records import dataclass
from cubepy.tools.shrinking.edits import BLOCKS, bodies, edits

__all__ = ["shrunk"]

Still = Callable[[str], bool]
Better = Callable[[str], None]


def shrunk(text: str, still: Still, better: Better | None = None) -> str:
    """The smallest script found of which `still` holds, as it does of `text`.

    `better` is told of each smaller one as it is found.
    """
    tree = ast.parse(text)
    current = ast.unparse(tree) + "\n"
    if not still(current):
        return text  # it hangs on how the script is written
    search = _Search(tree, still, better or (lambda _: None))
    while search.round() or search.refine():
        pass
    return search.text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """Statements `first` to `end` of the block `name` of the node `path` leads to.

    With `inner` the one statement there gives its place to the statements of a block of its own.
    """

    path: int
    name: str
    first: int
    end: int
    inner: str = ""


class _Search:
    """The tree so far, and what has been tried."""

    def __init__(self, tree: ast.Module, still: Still, better: Better) -> None:
        self._tree = tree
        self._still = still
        self._better = better
        self._tried: set[str] = set()
        self.text = ast.unparse(tree) + "\n"

    def round(self) -> bool:
        """Try every cut of the tree once, the larger first; whether one was made."""
        cuts = sorted(_cuts(self._tree), key=lambda pair: -pair[0])
        succeeded = False
        while cuts:
            _, cut = cuts.pop(0)
            if self._accepts(_with(self._tree, cut)):
                succeeded = True
                # Places have changed: what is left to try is found anew, but no larger.
                largest = cuts[0][0] if cuts else 0
                again = sorted(_cuts(self._tree), key=lambda pair: -pair[0])
                cuts = [pair for pair in again if pair[0] <= largest]
        return succeeded

    def refine(self) -> bool:
        """Try every change within statements once; whether one was made."""
        succeeded, at = False, 0
        found = list(edits(self._tree))
        while at < len(found):
            if self._accepts(found[at]()):
                succeeded = True
                found = list(edits(self._tree))
            else:
                at += 1
        return succeeded

    def _accepts(self, attempt: ast.Module) -> bool:
        """Whether a tree is smaller and fails as it should; then it is the one to go on from."""
        text = ast.unparse(attempt) + "\n"
        if text in self._tried or len(text) >= len(self.text) or not _compiles(text):
            return False
        self._tried.add(text)
        if not self._still(text):
            return False
        self._tree, self.text = attempt, text
        self._better(text)
        return True


def _compiles(text: str) -> bool:
    try:
        compile(text, "attempt", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _cuts(tree: ast.Module) -> Iterator[tuple[int, _Cut]]:
    """Every cut with the characters that it takes away: runs of 1, 2, 4 … statements, blocks."""
    for path, (_, name, body) in enumerate(bodies(tree)):
        sizes = [len(ast.unparse(statement)) for statement in body]
        length = 1
        while length <= len(body):
            for first in range(0, len(body), length):
                end = min(first + length, len(body))
                if length == 1 or end - first > length // 2:
                    yield (
                        sum(sizes[first:end]),
                        _Cut(path=path, name=name, first=first, end=end),
                    )
            length *= 2
        for at, statement in enumerate(body):
            for inner in BLOCKS[:2]:
                block = getattr(statement, inner, None)
                if isinstance(statement, ast.FunctionDef | ast.ClassDef) or not block:
                    continue
                kept = sum(len(ast.unparse(each)) for each in block)
                cut = _Cut(path=path, name=name, first=at, end=at + 1, inner=inner)
                yield max(0, sizes[at] - kept), cut


def _with(tree: ast.Module, cut: _Cut) -> ast.Module:
    """A copy of the tree with a cut made."""
    made = copy.deepcopy(tree)
    node, name, body = list(bodies(made))[cut.path]
    body[cut.first : cut.end] = getattr(body[cut.first], cut.inner) if cut.inner else []
    if not body and name == "body" and not isinstance(node, ast.Module):
        body.append(ast.Pass())
    return made
