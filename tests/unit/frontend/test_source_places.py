"""Every place the language page lists, for real: archives, notebooks, doctests, prompts, files.

Most run in a process of their own. An interactive prompt runs in a pseudo-terminal, so that the
interpreter behaves as it does before a person.
"""

# ruff: noqa: PLC3002 (lambdas called where they stand are a case)

from __future__ import annotations

import doctest
import importlib
import importlib.util
import linecache
import os
import pty
import select
import subprocess
import sys
import textwrap
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import CubeNameError, SourceUnavailable

MODULE = """
import numpy as np
import cubepy as cb

def helper(v):
    return v * 2.0

@cb.cube
def kernel(x):
    x[cb.ABSOLUTE_POS] = helper(3.5)

def result():
    x = np.zeros(3, np.float32)
    kernel.over(3, device="reference")(x)
    return x.tolist()
"""
RUN = textwrap.dedent(MODULE) + "\nprint(result())\n"


def python(*arguments: str, **options: Any) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=120,
        **options,
    )  # fmt: skip
    return str(done.stdout + done.stderr)


def loaded(path: Path, name: str = "kernels_in_a_file") -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ── files ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["plain.py", "with spaces und Ümläuten.py", "深い/kernels.py"])
def test_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(RUN, encoding="utf-8")
    assert python(str(path)) == "[7.0, 7.0, 7.0]\n"


def test_module_by_name_and_by_runpy(tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text(RUN, encoding="utf-8")
    assert python("-m", "shapes", cwd=tmp_path) == "[7.0, 7.0, 7.0]\n"
    program = f"import runpy; runpy.run_path({str(tmp_path / 'shapes.py')!r})"
    assert python("-c", program) == "[7.0, 7.0, 7.0]\n"


def test_archive(tmp_path: Path) -> None:
    archive = tmp_path / "kernels.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("zipped_kernels.py", MODULE)
    program = f"import sys; sys.path.insert(0, {str(archive)!r}); import zipped_kernels as z; "
    assert python("-c", program + "print(z.result())") == "[7.0, 7.0, 7.0]\n"


def test_read_only_folder(tmp_path: Path) -> None:
    (tmp_path / "fixed.py").write_text(RUN, encoding="utf-8")
    tmp_path.chmod(0o500)
    try:
        assert python(str(tmp_path / "fixed.py")) == "[7.0, 7.0, 7.0]\n"
    finally:
        tmp_path.chmod(0o700)


def test_standard_input_has_no_text_to_look_at() -> None:
    shown = python("-", input=RUN)
    assert "SourceUnavailable" in shown
    assert "help:" in shown


# ── a file that changed after it was imported ────────────────────────────────────────────────────


def rewritten(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    later = time.time() + 5
    os.utime(path, (later, later))


def test_changed_file_is_not_taken_for_what_was_run(tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    plain = MODULE.replace("@cb.cube\n", "\n")
    path.write_text(plain, encoding="utf-8")
    module = loaded(path)
    rewritten(path, plain.replace("3.5", "4.5"))
    with pytest.raises(SourceUnavailable, match=r"was changed after it was run\n  help: run it"):
        cb.cube(module.kernel)
    again = loaded(path)
    x = np.zeros(1, np.float32)
    cb.cube(again.kernel).over(1, device="reference")(x)
    assert x[0] == 9


def test_changed_file_of_a_helper(tmp_path: Path) -> None:
    path = tmp_path / "edited_helper.py"
    path.write_text(MODULE, encoding="utf-8")
    module = loaded(path)
    rewritten(path, MODULE.replace("v * 2.0", "v * 3.0"))
    with pytest.raises(SourceUnavailable, match=r"helper .* was changed"):
        module.result()


def test_lines_added_above_do_not_matter_to_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "moved.py"
    path.write_text(MODULE, encoding="utf-8")
    module = loaded(path)
    assert module.result() == [7.0] * 3
    rewritten(path, "# a line\n" + MODULE)
    assert module.result() == [7.0] * 3  # captured already
    rewritten(path, "def broken(:\n")
    assert module.result() == [7.0] * 3


def test_file_that_is_gone_or_broken(tmp_path: Path) -> None:
    path = tmp_path / "gone.py"
    path.write_text(MODULE.replace("@cb.cube\n", "\n"), encoding="utf-8")
    module, other = loaded(path), loaded(path)
    rewritten(path, "def broken(:\n")
    with pytest.raises(SourceUnavailable):
        cb.cube(module.kernel)
    path.unlink()
    with pytest.raises(SourceUnavailable, match="cannot be found"):
        cb.cube(other.kernel)


# ── notebooks and doctests ───────────────────────────────────────────────────────────────────────


def test_cells_of_a_notebook() -> None:
    pytest.importorskip("IPython")
    program = textwrap.dedent(
        """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        cells = ["import numpy as np, cubepy as cb",
                 "def helper(v):\\n    return v * 2.0",
                 "@cb.cube\\ndef kernel(x):\\n    x[cb.ABSOLUTE_POS] = helper(3.5)",
                 "x = np.zeros(3, np.float32)\\nkernel.over(3, device='reference')(x)",
                 "def helper(v):\\n    return v * 3.0",
                 "y = np.zeros(3, np.float32)\\nkernel.over(3, device='reference')(y)",
                 "print(x.tolist(), y.tolist())",
                 "@cb.cube\\ndef wrong(x):\\n    x[0] = mising",
                 "wrong.over(1)(x)"]
        for cell in cells:
            shell.run_cell(cell, store_history=True)
        """
    )
    shown = python("-c", program)
    assert "[7.0, 7.0, 7.0] [10.5, 10.5, 10.5]" in shown
    assert "'mising' is not defined" in shown
    assert "x[0] = mising" in shown


def test_cells_of_a_kernel_process() -> None:
    """ipykernel gives each cell the name of a file that does not exist, and its lines."""
    name = "/tmp/ipykernel_4711/1234567.py"
    text = MODULE.lstrip()
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {}
    exec(compile(text, name, "exec"), names)
    assert names["result"]() == [7.0] * 3


@pytest.mark.parametrize(
    "call", ["exec({text!r}, {{}})", "exec(compile({text!r}, 'it', 'exec'), {{}})"]
)
def test_exec_of_a_text_that_stands_in_the_call(tmp_path: Path, call: str) -> None:
    program = tmp_path / "runs_a_text.py"
    program.write_text(f"def run():\n    {call.format(text=RUN)}\n\nrun()\n")
    assert python(str(program)).strip() == "[7.0, 7.0, 7.0]"
    assert python("-c", call.format(text=RUN)).strip() == "[7.0, 7.0, 7.0]"


def test_doctest() -> None:
    text = """
    >>> import numpy as np, cubepy as cb
    >>> def helper(v):
    ...     return v * 2.0
    >>> @cb.cube
    ... def kernel(x):
    ...     x[cb.ABSOLUTE_POS] = helper(3.5)
    >>> x = np.zeros(3, np.float32)
    >>> kernel.over(3, device="reference")(x)
    >>> x.tolist()
    [7.0, 7.0, 7.0]
    """
    example = doctest.DocTestParser().get_doctest(text, {}, "example", None, None)
    shown: list[str] = []
    outcome = doctest.DocTestRunner().run(example, out=shown.append)
    assert (outcome.failed, outcome.attempted) == (0, 6), "".join(shown)


# ── prompts ──────────────────────────────────────────────────────────────────────────────────────

LINES = (
    "import cubepy as cb, numpy as np",
    "def helper(v):",
    "    return v * 2.0",
    "",
    "@cb.cube",
    "def kernel(x):",
    "    x[cb.ABSOLUTE_POS] = helper(3.5)",
    "",
    "x = np.zeros(3, np.float32)",
    "kernel.over(3, device='reference')(x)",
    "print('the', 'result', x.tolist())",
)


def prompted(lines: tuple[str, ...]) -> str:
    """What an interpreter shows in a terminal when a person types these lines."""
    terminal, inner = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "PYTHON_COLORS": "0"}
    child = subprocess.Popen(
        [sys.executable, "-q", "-i"], stdin=inner, stdout=inner, stderr=inner, env=environment,
        start_new_session=True,
    )  # fmt: skip
    os.close(inner)
    shown = bytearray()

    def read(wanted: bytes, seconds: float) -> None:
        start, end = len(shown), time.monotonic() + seconds
        while wanted not in shown[start:] and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    shown.extend(os.read(terminal, 1 << 16))
                except OSError:
                    return

    read(b">>> ", 60)
    for line in lines:
        os.write(terminal, line.encode() + b"\n")
        goes_on = line.startswith((" ", "@", "def"))
        read(b"... " if goes_on else b">>> ", 5 if goes_on else 60)
    os.write(terminal, b"\x04")
    read(b"never", 2)
    os.close(terminal)
    child.wait(60)
    return shown.decode(errors="replace")


def test_interactive_prompt() -> None:
    """From 3.13 on the prompt keeps its text; before, it is found in the readline history."""
    if sys.version_info < (3, 13):
        pytest.importorskip("readline")
    assert "the result [7.0, 7.0, 7.0]" in prompted(LINES)


# ── inside other things ──────────────────────────────────────────────────────────────────────────


def test_inside_a_coroutine_and_a_method() -> None:
    async def make() -> Any:
        @cb.cube
        def kernel(x: cb.Array[cb.f32]) -> None:
            x[cb.ABSOLUTE_POS] = 4.0

        return kernel

    class Maker:
        factor = 5.0

        def make(self) -> Any:
            factor = self.factor

            @cb.cube
            def kernel(x: cb.Array[cb.f32]) -> None:
                x[cb.ABSOLUTE_POS] = factor

            return kernel

    coroutine = make()
    with pytest.raises(StopIteration) as done:
        coroutine.send(None)
    for kernel, expected in ((done.value.value, 4), (Maker().make(), 5)):
        x = np.zeros(1, np.float32)
        kernel.over(1, device="reference")(x)
        assert x[0] == expected


def test_lambdas_inside_each_other_on_one_line() -> None:
    nested = (lambda x: cb.atomic_add(x, 0, (lambda v: v + 1)(2)), lambda x: cb.atomic_sub(x, 0, 5))
    inner = (lambda: lambda x: cb.atomic_add(x, 0, 7))()
    results = []
    for function in (*nested, inner):
        x = np.zeros(1, np.int32)
        cb.cube(function).over(1, device="reference")(x)
        results.append(int(x[0]))
    assert results == [3, -5, 7]


def test_text_run_by_cubepy_shows_its_lines_in_errors() -> None:
    names: dict[str, Any] = {"cb": cb}
    cb.exec("@cb.cube\ndef kernel(x):\n    x[0] = mising\n", names)
    with pytest.raises(CubeNameError) as caught:
        names["kernel"].over(1)(np.zeros(1, np.float32))
    assert "    3 |     x[0] = mising\n      |            ^^^^^^" in str(caught.value)


def test_reloaded_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "kernels_to_reload.py"
    path.write_text(MODULE, encoding="utf-8")
    module = importlib.import_module("kernels_to_reload")
    assert module.result() == [7.0] * 3
    rewritten(path, MODULE.replace("3.5", "1.5"))
    assert importlib.reload(module).result() == [3.0] * 3
