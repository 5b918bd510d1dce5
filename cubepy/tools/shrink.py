"""`cubepy shrink SCRIPT`: a smaller script that still fails in the same way.

Statements are taken out, blocks put in the place of the statement that holds them, and what is left
is run again, each time in a process of its own with a limit. What has to remain is the last line of
the complaint, without places and numbers, or the text that `--keep` gives.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from cubepy.errors import CubeError

__all__ = ["shrink", "shrunk"]

Still = Callable[[str], bool]


def shrink(arguments: argparse.Namespace) -> int:
    """Print the smaller script, or write it."""
    path = Path(arguments.script)
    try:
        text = path.read_text(encoding="utf-8")
        ast.parse(text)
    except (OSError, SyntaxError) as error:
        raise CubeError(f"{path}: {error}") from error
    complaint = _complaint(text, path, arguments.seconds)
    wanted = arguments.keep or _kept(complaint)
    if not wanted or wanted not in _plain(complaint, exact=bool(arguments.keep)):
        raise CubeError(
            f"{path} does not fail"
            + (f" with {wanted!r}" if wanted else "")
            + "\n  help: make the script raise, for example with an assert on what is wrong"
        )

    def still(attempt: str) -> bool:
        found = _complaint(attempt, path, arguments.seconds)
        return wanted in _plain(found, exact=bool(arguments.keep))

    small = shrunk(text, still)
    if arguments.output:
        Path(arguments.output).write_text(small, encoding="utf-8")
    else:
        print(small, end="")
    before, after = len(text.splitlines()), len(small.splitlines())
    print(f"{before} lines became {after}: {wanted}", file=sys.stderr)
    return 0


def _complaint(text: str, path: Path, seconds: float) -> str:
    """The last line of what a script says as it fails; "" if it does not."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / path.name
        script.write_text(text, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path.parent), *sys.path])}
        try:
            done = subprocess.run(
                [sys.executable, str(script)], capture_output=True, text=True, check=False,
                timeout=seconds, env=environment, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "the script does not end"
    if done.returncode < 0:
        return f"the process was ended by signal {-done.returncode}"
    if done.returncode == 0:
        return ""
    return _last_error(done.stderr)


_ERROR = re.compile(r"^(\w+\.)*\w+(Error|Fault|Warning|Exception|Failed|Unavailable|Interrupt)\b.*")


def _last_error(text: str) -> str:
    """The line that names the error, which lines of excerpts may follow."""
    lines = [line for line in text.splitlines() if line.strip()]
    named = [line for line in lines if _ERROR.match(line)]
    return (named or lines or ["it fails without a word"])[-1]


def _plain(complaint: str, *, exact: bool) -> str:
    return complaint if exact else _kept(complaint)


def _kept(complaint: str) -> str:
    """A complaint without what changes as a script becomes smaller: places and numbers."""
    return re.sub(r"\S*\.py(:\d+)*:?|\d+", "…", complaint)


# ── smaller scripts ─────────────────────────────────────────────────────────────────────────────


def shrunk(text: str, still: Still) -> str:
    """The smallest script found of which `still` holds, as it does of `text`."""
    tree = ast.parse(text)
    current = ast.unparse(tree) + "\n"
    if not still(current):
        return text  # it hangs on how the script is written
    size = max(len(body) for _, _, body in _bodies(tree)) if tree.body else 0
    while size:
        made = _first(tree, size, still)
        if made is None:
            size //= 2
        else:
            tree = made
    return ast.unparse(tree) + "\n"


def _first(tree: ast.Module, size: int, still: Still) -> ast.Module | None:
    """The tree without `size` statements that follow each other, or with a block's statements in
    its place; None if all attempts fail no more.
    """
    length = len(ast.unparse(tree))
    for attempt in _attempts(tree, size):
        text = ast.unparse(attempt) + "\n"
        if len(text) <= length and _compiles(text) and still(text):
            return attempt
    return None


def _compiles(text: str) -> bool:
    try:
        compile(text, "attempt", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _attempts(tree: ast.Module, size: int) -> Iterator[ast.Module]:
    for number, (_, name, body) in enumerate(_bodies(tree)):
        for start in range(len(body) - 1, -1, -size):
            first = max(0, start - size + 1)
            yield _without(tree, number, name, first, start + 1)
        if size == 1:
            for at, statement in enumerate(body):
                for inner in ("body", "orelse"):
                    if getattr(statement, inner, None) and not isinstance(
                        statement, ast.FunctionDef | ast.ClassDef
                    ):
                        yield _unwrapped(tree, number, name, at, inner)


def _bodies(tree: ast.Module) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    """Every list of statements, outer ones first."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                yield node, name, body


def _without(tree: ast.Module, number: int, name: str, first: int, end: int) -> ast.Module:
    made = copy.deepcopy(tree)
    node, _, body = list(_bodies(made))[number]
    del body[first:end]
    if not body and name == "body" and not isinstance(node, ast.Module):
        body.append(ast.Pass())
    return made


def _unwrapped(tree: ast.Module, number: int, name: str, at: int, inner: str) -> ast.Module:
    made = copy.deepcopy(tree)
    _, _, body = list(_bodies(made))[number]
    body[at : at + 1] = getattr(body[at], inner)
    return made
