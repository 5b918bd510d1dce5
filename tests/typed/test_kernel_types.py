"""Kernel bodies mean something to type checkers: right ones pass, slips are seen while typing.

`wrong_kernels.txt` marks the lines that a checker must complain about, and no other. mypy runs
strictly; pyright runs where it is installed.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cubepy import frontend
from tests.docs.documents import ROOT, blocks_of, documents

WRONG = Path(__file__).parent / "wrong_kernels.txt"
EXAMPLES = ROOT / "examples" / "kernels"
# Where kernels are explained, they and their helpers go without `-> None`.
LENIENT = ("--allow-untyped-defs", "--allow-incomplete-defs", "--allow-untyped-calls",
           "--allow-redefinition-new", "--local-partial-types")  # fmt: skip


# What the blocks of one page do to each other (recipes each have a `run`), and a literal for a type
# variable.
BESIDE = ("[no-redef]", 'expected "F"', '"run"')


def complaints(output: str, name: str) -> set[int]:
    """The lines of a file that mypy complains about."""
    return {int(line) for line in re.findall(rf"{re.escape(name)}:(\d+)(?::\d+)?: error", output)}


def mypy(*arguments: str) -> str:
    search = {"MYPYPATH": f"{ROOT}{os.pathsep}{ROOT / 'runtimes'}"}
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull,
         "--no-warn-unused-ignores", "--ignore-missing-imports", "--follow-imports", "silent",
         "--explicit-package-bases",
         "--cache-dir", str(ROOT / ".mypy_cache" / "kernels"), *arguments],
        capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | search,
    )  # fmt: skip
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return run.stdout


def marked() -> set[int]:
    lines = WRONG.read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """The wrong kernels as a file that checkers take; where it lies, nothing else looks at it."""
    copy = tmp_path / "wrong_kernels.py"
    copy.write_text(WRONG.read_text(encoding="utf-8"), encoding="utf-8")
    return copy


def test_mypy_sees_the_mistakes_and_no_others(wrong: Path) -> None:
    assert complaints(mypy(str(wrong)), wrong.name) == marked()


def test_mypy_passes_the_examples() -> None:
    assert "Success" in mypy(str(EXAMPLES))


def test_mypy_passes_the_kernels_of_the_documents(tmp_path: Path) -> None:
    files = []
    for document in documents():
        blocks = blocks_of(document.read_text(encoding="utf-8"))
        code = [
            each.text
            for each in blocks
            if each.language == "python" and not {"shown", "alone"} & set(each.flags)
        ]
        if any("@cb.cube" in text for text in code):
            files.append(tmp_path / f"{document.stem}.py")
            files[-1].write_text("\n\n".join(code) + "\n", encoding="utf-8")
    assert len(files) > 2
    shown = mypy(*LENIENT, *map(str, files))
    wrong = [line for line in shown.splitlines() if ": error: " in line
             and not any(text in line for text in BESIDE)]  # fmt: skip
    for path in files:
        inside = lines_of_functions(path)
        at = complaints("\n".join(wrong), path.name) & inside
        assert not at, (path.name, [line for line in wrong if path.name in line])


def lines_of_functions(path: Path) -> set[int]:
    """The lines of kernels, helpers and structs; those that launch are left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        line
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def pyright(*paths: Path) -> set[tuple[str, int]]:
    tool = shutil.which("pyright")
    if tool is None:
        pytest.skip("pyright is not installed")
    run = subprocess.run(
        [tool, "--outputjson", "--pythonpath", sys.executable, *map(str, paths)],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    found = json.loads(run.stdout)["generalDiagnostics"]
    errors = [each for each in found if each["severity"] == "error"]
    return {(Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in errors}


def test_pyright_sees_the_mistakes_and_no_others(wrong: Path) -> None:
    assert {line for _, line in pyright(wrong)} == marked()


def test_pyright_passes_the_examples() -> None:
    assert pyright(EXAMPLES) == set()


def test_every_function_of_kernels_has_a_family() -> None:
    text = (ROOT / "cubepy" / "frontend" / "vocabulary.py").read_text(encoding="utf-8")
    untyped = set(re.findall(r"^(\w+): Any = function", text, re.MULTILINE))
    assert untyped <= {"vector", "insert", "intrinsic"}  # any number of arguments
    assert set(re.findall(r'function\("(\w+)"\)', text)) == set(frontend.INTRINSICS)
