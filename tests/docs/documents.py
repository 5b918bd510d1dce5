"""Runs the code blocks of a Markdown file in order and tells what they print.

The Python blocks of a file are one program: they share their names, and a copy of the file with
everything else blanked out stands where Python and cubepy look for the source, so that a line
number in a message is the line of the document. A block marked `raises` must end in an error of
cubepy. One marked `alone` is a program of its own in a new process, with the environment that
follows; one marked `shown` is of another project and not run. Shell blocks may call `cubepy` and,
unexecuted, `make` with a target that exists. A `text` block holds what the block before it prints;
`…` stands for what may differ: within a line for some characters, on a line of its own for some
lines.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cubepy.errors import CubeError
from cubepy.tools import main as command_line

ROOT = Path(__file__).resolve().parent.parent.parent
_FENCE = re.compile(r"^```(?P<words>.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block; `line` is the line of the file its text begins at, counted from 1."""

    language: str
    flags: tuple[str, ...]
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a block printed, and the block that says what it should have."""

    code: Block
    found: str
    expected: Block


def documents() -> list[Path]:
    """README and everything under docs/, in order of reading."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a document."""
    blocks, opened, start, kept = [], "", 0, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if start and not fence:
            kept.append(line)
        elif start:
            language, *flags = opened.split() or [""]
            body = "\n".join(kept)
            blocks.append(Block(language=language, flags=tuple(flags), line=start, text=body))
            start = 0
        elif fence:
            opened, start, kept = fence["words"], number + 1, []
    assert not start, f"a block that begins at line {start} does not end"
    return blocks


def run(document: Path, folder: Path) -> Iterator[Printed]:
    """Run all blocks; the results are what is to be compared. `folder` takes the program."""
    blocks = blocks_of(document.read_text(encoding="utf-8"))
    program = folder / f"{document.stem}.py"
    program.write_text(_program(blocks), encoding="utf-8")
    # Blocks are compiled one by one, which gives other code than compiling the file at once; an old
    # file is not looked at for changes.
    os.utime(program, (0, 0))
    names: dict[str, Any] = {"__name__": document.stem, "__file__": str(program)}
    last, found = None, ""
    for block in blocks:
        if block.language == "text":
            assert last is not None, f"line {block.line}: nothing before this text prints"
            yield Printed(code=last, found=found, expected=block)
            last = None
        elif block.language == "python" and "alone" in block.flags:
            last, found = block, _run_alone(block)
        elif block.language == "python" and "shown" not in block.flags:
            last, found = block, _run_python(block, program, names)
        elif block.language == "sh":
            last, found = block, _run_shell(block)


def _program(blocks: list[Block]) -> str:
    lines: list[str] = []
    for block in blocks:
        if block.language == "python" and not {"alone", "shown"} & {*block.flags}:
            lines += [""] * (block.line - 1 - len(lines))
            lines += block.text.splitlines()
    return "\n".join(lines) + "\n"


def _run_python(block: Block, program: Path, names: dict[str, Any]) -> str:
    code = compile("\n" * (block.line - 1) + block.text, str(program), "exec")
    output = io.StringIO()
    # what a document writes goes where its program is
    with contextlib.redirect_stdout(output), contextlib.chdir(program.parent):
        try:
            exec(code, names)
        except CubeError as error:
            if "raises" not in block.flags:
                raise
            output.write("".join(traceback.format_exception_only(error)))
        else:
            assert "raises" not in block.flags, f"line {block.line}: nothing was raised"
    return output.getvalue().replace(f"{program.parent}/", "")


def _run_alone(block: Block) -> str:
    settings = dict(flag.split("=") for flag in block.flags if "=" in flag)
    command = [sys.executable, "-W", "ignore", "-c", block.text]
    environment = {**os.environ, **settings}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"line {block.line}: {done.stderr}"
    return done.stdout


def _run_shell(block: Block) -> str:
    output = io.StringIO()
    for line in block.text.splitlines():
        program, *words = shlex.split(line, comments=True) or [""]
        if Path(program).name == "cubepy":
            with contextlib.redirect_stdout(output), contextlib.chdir(ROOT):
                assert command_line(words) == 0, line
        elif program == "make":
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            targets = [word for word in words if "=" not in word]
            assert all(re.search(rf"^{word}:", makefile, re.MULTILINE) for word in targets), line
        else:
            assert program == "", f"no way to check the command {line!r}"
    return output.getvalue()


def matches(expected: str, found: str) -> bool:
    """Whether text fits what a document says it is, `…` standing for anything."""
    pattern = ""
    for line in expected.rstrip().splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += "[^\n]*?".join(map(re.escape, line.rstrip().split("…"))) + r"[ \t]*\n"
    return re.fullmatch(pattern, found.rstrip() + "\n") is not None


def with_texts(document: str, results: list[Printed]) -> str:
    """The document with every text replaced that no longer fits; those with `…` stay."""
    lines = document.splitlines()
    for result in reversed(results):
        block = result.expected
        if not matches(block.text, result.found) and "…" not in block.text:
            start = block.line - 1
            lines[start : start + len(block.text.splitlines())] = result.found.rstrip().splitlines()
    return "\n".join(lines) + "\n"
