"""The words of `cubepy shrink`: what has to remain, how far it has come, what is left.

What has to remain is the last line of the complaint, without places and numbers, or the text that
`--keep` gives.
"""

from __future__ import annotations

import argparse
import ast
import sys
import time
from pathlib import Path

from cubepy.errors import CubeError
from cubepy.tools.shrinking.attempts import Attempts, kept, plain
from cubepy.tools.shrinking.reduction import shrunk

__all__ = ["shrink"]

# Seconds between two lines on how far it has come.
_PAUSE = 1.0


def shrink(arguments: argparse.Namespace) -> int:
    """Print the smaller script, or write it."""
    path = Path(arguments.script)
    try:
        text = path.read_text(encoding="utf-8")
        ast.parse(text)
    except (OSError, SyntaxError) as error:
        raise CubeError(f"{path}: {error}") from error
    progress = _Progress(text)
    with Attempts(path, arguments.seconds) as attempts:
        wanted = _wanted(attempts, text, path, arguments.keep)

        def still(attempt: str) -> bool:
            progress.show(attempts.count)
            return wanted in plain(attempts.complaint(attempt), exact=bool(arguments.keep))

        try:
            small = shrunk(text, still, progress.better)
        except KeyboardInterrupt:
            progress.end()
            print("interrupted: this is as far as it came", file=sys.stderr)
            small = progress.best
        progress.end()
    if arguments.output:
        Path(arguments.output).write_text(small, encoding="utf-8")
    else:
        print(small, end="")
    before, after = len(text.splitlines()), len(small.splitlines())
    print(f"{before} lines became {after} in {attempts.count} attempts: {wanted}", file=sys.stderr)
    return 0


def _wanted(attempts: Attempts, text: str, path: Path, keep: str) -> str:
    """What a complaint must contain; CubeError if the script's own does not."""
    complaint = attempts.complaint(text)
    wanted = keep or kept(complaint)
    if not wanted or wanted not in plain(complaint, exact=bool(keep)):
        raise CubeError(
            f"{path} does not fail"
            + (f" with {wanted!r}" if wanted else "")
            + "\n  help: make the script raise, for example with an assert on what is wrong"
        )
    return wanted


class _Progress:
    """How far it has come: a line that is written over in a terminal, else one now and then."""

    def __init__(self, text: str) -> None:
        self.best = text
        self._begun = self._shown = time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._written = False

    def better(self, text: str) -> None:
        """A smaller script was found."""
        self.best = text

    def show(self, attempts: int) -> None:
        """Say it, if it is time."""
        now = time.monotonic()
        if now - self._shown < (_PAUSE / 5 if self._terminal else _PAUSE):
            return
        self._shown, self._written = now, True
        lines, seconds = len(self.best.splitlines()), now - self._begun
        said = f"{lines} lines after {attempts} attempts, {seconds:.0f} s"
        start, end = ("\r\x1b[K", "") if self._terminal else ("", "\n")
        print(f"{start}{said}", end=end, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the terminal's line."""
        if self._terminal and self._written:
            print(file=sys.stderr)
            self._written = False
