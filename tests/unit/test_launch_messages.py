"""What a launch says of a call that does not fit: the whole message, and a short traceback."""

import inspect
import pydoc
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, config, f32
from cubepy.errors import ArgumentError, CubeError, LaunchError


@cb.cube
def twice(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = 2.0 * x[i]


@cb.cube
def documented(x: Array[f32]) -> None:
    """Is the documented one."""
    x[0] = 1.0


@cb.cube
def add_to(total: Array[f32], x: Array[f32]) -> None:
    cb.atomic_add(total, 0, x[cb.ABSOLUTE_POS])


@cb.cube
def brain(x: Array[cb.bf16], count: cb.i32) -> None:
    x[0] = cb.bf16(count)


@cb.cube
def first(x: Tensor[f32], out: Array[f32]) -> None:
    out[0] = x[0, 0]


X = np.arange(8, dtype=np.float32)
OUT = np.empty_like(X)
OVER: Any = twice.over  # as who has no types checked calls it

CALLS: dict[str, tuple[Callable[[], Any], type[CubeError], str]] = {
    "wrong dtype of an input": (
        lambda: twice.over(8)(np.arange(8.0), OUT), ArgumentError,
        "twice: argument 'x': expected an array of f32, got f64\n"
        "  help: pass x.astype(numpy.float32)",
    ),
    "wrong dtype of a result": (
        lambda: twice.over(8)(X, np.zeros(8)), ArgumentError,
        "twice: argument 'out': expected an array of f32, got f64\n"
        "  help: make out with dtype=numpy.float32: what a kernel writes to a copy is lost",
    ),
    "wrong dtype of an atomic's array": (
        lambda: add_to.over(8)(np.zeros(1), X), ArgumentError,
        "add_to: argument 'total': expected an array of f32, got f64\n"
        "  help: make total with dtype=numpy.float32: what a kernel writes to a copy is lost",
    ),
    "wrong dtype for bf16": (
        lambda: brain.over(1)(np.zeros(1, np.uint16), 1), ArgumentError,
        "brain: argument 'x': expected an array of bf16, got u16\n"
        "  help: make x with dtype=ml_dtypes.bfloat16: what a kernel writes to a copy is lost",
    ),
    "wrong rank": (
        lambda: twice.over(8)(np.zeros((3, 5), np.float32), OUT), ArgumentError,
        "twice: argument 'x': expected an array with 1 axis, got one with 2\n"
        "  help: annotate x as Tensor[f32], or pass x.reshape(-1)",
    ),
    "wrong rank of a result": (
        lambda: twice.over(8)(X, np.zeros((3, 5), np.float32)), ArgumentError,
        "twice: argument 'out': expected an array with 1 axis, got one with 2\n"
        "  help: annotate out as Tensor[f32], or pass a flat view",
    ),
    "no axis": (
        lambda: twice.over(8)(np.zeros((), np.float32), OUT), ArgumentError,
        "twice: argument 'x': expected an array with 1 axis, got one with none\n"
        "  help: pass a view with one axis, x.reshape(1)",
    ),
    "complex": (
        lambda: twice.over(8)(np.zeros(8, complex), OUT), ArgumentError,
        "twice: argument 'x': kernels have no arrays of complex128\n"
        "  help: use a type of docs/language.md, such as f32 (numpy.float32)",
    ),
    "list": (
        lambda: twice.over(8)([1, 2], OUT), ArgumentError,
        "twice: argument 'x': expected an array, got list\n"
        "  help: pass an array: numpy.array([…], numpy.float32)",
    ),
    "missing": (
        lambda: twice.over(8)(X), ArgumentError,
        "twice: argument 'out' is missing\n  help: the parameters are twice(x, out)",
    ),
    "several missing": (
        first.over(8), ArgumentError,
        "first: arguments 'x', 'out' are missing\n"
        "  help: the parameters are first(x, out)",
    ),
    "too many": (
        lambda: twice.over(8)(X, OUT, 3), ArgumentError,
        "twice: 3 arguments given, 2 expected\n  help: the parameters are twice(x, out)",
    ),
    "misspelt keyword": (
        lambda: twice.over(8)(X, output=OUT), ArgumentError,
        "twice: there is no parameter 'output'\n  help: did you mean out?",
    ),
    "device beside the arguments": (
        lambda: twice.over(8)(X, OUT, device="cpu"), ArgumentError,
        "twice: there is no parameter 'device'\n"
        "  help: device stands with the sizes: twice.over(shape, device=…)(…), "
        "or twice.launch(…, cube_count=…, cube_dim=…, device=…)",
    ),
    "twice": (
        lambda: twice.over(8)(X, x=OUT), ArgumentError,
        "twice: argument 'x' is given twice\n  help: the parameters are twice(x, out)",
    ),
    "over an array": (
        lambda: twice.over(X)(X, OUT), LaunchError,
        "the shape to run over is an array\n  help: give its shape: x.shape, or len(x)",
    ),
    "over nothing": (
        lambda: twice.over()(X, OUT), LaunchError,
        "twice.over: the shape is missing\n  help: twice.over(len(x))(…)",
    ),
    "over extents": (
        lambda: OVER(2, 5)(X, OUT), LaunchError,
        "twice.over(2, 5): the shape is one argument\n  help: twice.over((2, 5))(…)",
    ),
    "over three extents": (
        lambda: OVER(2, np.int64(5), 3)(X, OUT), LaunchError,
        "twice.over(2, 5, 3): the shape is one argument\n  help: twice.over((2, 5, 3))(…)",
    ),
    "over with a cube": (
        lambda: OVER(8, cube_dim=4)(X, OUT), LaunchError,
        "twice.over takes no 'cube_dim'\n  help: over chooses the cubes; "
        "twice[count, dim](…) and twice.launch(…, cube_count=…, cube_dim=…) take yours",
    ),
    "over with an argument": (
        lambda: OVER(8, x=X)(OUT), LaunchError,
        "twice.over takes no 'x'\n  help: twice.over(shape, device=…, check=…)(…); "
        "arguments of the kernel come second",
    ),
    "launch without sizes": (
        lambda: twice.launch(X, OUT), LaunchError,
        "twice.launch: cube_count is missing\n  help: twice.launch(…, cube_count=…, cube_dim=…); "
        "for a shape, twice.over(shape)(…)",
    ),
    "launch without cube_dim": (
        lambda: twice.launch(X, OUT, cube_count=1), LaunchError,
        "twice.launch: cube_dim is missing\n  help: twice.launch(…, cube_count=…, cube_dim=…); "
        "for a shape, twice.over(shape)(…)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_message(case: str) -> None:
    call, kind, message = CALLS[case]
    with pytest.raises(CubeError) as caught:
        call()
    assert type(caught.value) is kind
    assert str(caught.value) == message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("case", CALLS)
def test_the_traceback_shows_one_line_of_cubepy(case: str) -> None:
    with pytest.raises(CubeError) as caught:
        CALLS[case][0]()
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    inner = [file for file in files if file != __file__]
    assert len(inner) == 1
    assert files[-1] == inner[0]


def test_whole_tracebacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBEPY_TRACEBACKS", "full")
    config.current.cache_clear()
    try:
        with pytest.raises(ArgumentError) as caught:
            twice.over(8)(np.arange(8.0), OUT)
    finally:
        monkeypatch.undo()
        config.current.cache_clear()
    assert len(traceback.extract_tb(caught.value.__traceback__)) > 5


MISTAKE = """
    import numpy as np, cubepy as cb
    from cubepy import Array, f32

    @cb.cube
    def kernel(x: Array[f32]):
        naïve = "é"; x[0] = valeu + 1.0

    kernel.over(1)(np.zeros(1, np.float32))
"""


def test_carets_of_a_traceback_stand_under_the_mistake(tmp_path: Path) -> None:
    file = tmp_path / "mistake.py"
    file.write_text(textwrap.dedent(MISTAKE), encoding="utf-8")
    command = [sys.executable, "-X", "utf8", str(file)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    lines = run.stderr.splitlines()
    at = next(number for number, line in enumerate(lines) if "in kernel" in line)
    shown, carets = lines[at + 1], lines[at + 2]
    assert shown.strip() == 'naïve = "é"; x[0] = valeu + 1.0'
    assert [shown[n] for n, mark in enumerate(carets) if mark == "^"] == list("valeu")


def test_what_launchers_look_like() -> None:
    assert repr(twice.over(8)) == "<twice.over(8): call it with arguments>"
    assert repr(first.over((2, 3))) == "<first.over((2, 3)): call it with arguments>"
    assert repr(twice[2, 32]) == "<twice[(2, 1, 1), 32]: call it with arguments>"
    assert repr(twice[2, cb.PLANE]) == "<twice[(2, 1, 1), PLANE]: call it with arguments>"
    assert "on reference" in repr(twice.over(8, device="reference"))


def test_arrays_of_bf16_are_made_as_the_message_says() -> None:
    x = np.zeros(1, ml_dtypes.bfloat16)
    brain.over(1, device="reference")(x, 3)
    assert float(x[0]) == 3.0


def test_what_help_shows_of_a_kernel() -> None:
    assert repr(twice).startswith("<cube twice(x, out) at ")
    assert list(inspect.signature(twice).parameters) == ["x", "out"]
    assert "A kernel without a docstring: twice.over(shape)(…)." in pydoc.render_doc(twice)
    assert "the documented" in pydoc.render_doc(documented)


def test_the_module_lists_what_users_write() -> None:
    listed = dir(cb)
    assert {*cb.__all__, "exec", "min", "round"} <= set(listed)
    assert not {"Any", "frontend", "compiler", "import_module"} & set(listed)
    assert all(hasattr(cb, name) for name in listed)
