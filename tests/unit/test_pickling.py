"""Kernels, launchers, devices, buffers and errors in other processes."""

import ast
import copy
import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, errors, f32
from cubepy.errors import BackendError, CubeTypeError, Diagnostic, NotPicklable
from cubepy.location import Loc

ROOT = Path(__file__).parents[2]

MODULE = """
import numpy as np
import cubepy as cb
from cubepy import Array, f32

STEP = 2.0

@cb.cube
def shift(x: Array[f32], out: Array[f32]):
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i] + STEP
"""
SCRIPT = """
import multiprocessing
import numpy as np
import cubepy as cb
from cubepy import Array, f32
from shifting import shift

@cb.cube
def doubled(x: Array[f32], out: Array[f32]):
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i] * 2.0

def run(task):
    kernel, launch, x, buffer = task
    a, b = np.empty_like(x), np.empty_like(x)
    kernel.over(x.size)(x, a)
    launch(x, b)
    return a.tolist(), b.tolist(), buffer.numpy().tolist()

if __name__ == "__main__":
    x = np.arange(4, dtype=np.float32)
    buffer = cb.device("cpu").array(x[::-1])
    doubled.over(4)(x, np.empty_like(x))
    tasks = [(kernel, kernel[1, 4], x, buffer) for kernel in (shift, doubled)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(run, tasks))
"""


@cb.cube
def scaled(x: Array[f32], factor: f32) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(x):
        x[i] = x[i] * factor


class Held:
    @staticmethod
    @cb.cube
    def zeroed(x: Array[f32]) -> None:
        x[cb.ABSOLUTE_POS] = 0.0


hidden = cb.cube(scaled.function)


def test_processes_that_are_started_anew_find_kernels_by_name(tmp_path: Path) -> None:
    (tmp_path / "shifting.py").write_text(MODULE)
    (tmp_path / "script.py").write_text(SCRIPT)
    paths = os.pathsep.join((str(tmp_path), str(ROOT), str(ROOT / "runtimes")))
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], cwd=tmp_path, timeout=120,
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    back = [3.0, 2.0, 1.0, 0.0]
    assert ast.literal_eval(done.stdout) == [
        ([2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0], back),
        ([0.0, 2.0, 4.0, 6.0], [0.0, 2.0, 4.0, 6.0], back),
    ]


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize(
    "value",
    [scaled, Held.zeroed, scaled.over, scaled.over((2, 3), check="validate"),
     scaled[(2, 2, 1), (4, 2)], cb.device("cpu"), cb.device("reference")],
    ids=str,
)  # fmt: skip
def test_what_comes_back_is_the_same_object(value: Any) -> None:
    assert again(value) is value


@pytest.mark.parametrize(
    "value",
    [scaled.over(7), scaled.over(7, "reference"), scaled[3, 8], scaled[(2, 2), (cb.PLANE, 2)],
     scaled[1, cb.PLANE]],
    ids=str,
)  # fmt: skip
def test_launchers_come_back_with_their_sizes(value: Any) -> None:
    other = again(value)
    assert repr(other) == repr(value)
    results = []
    for launch in (value, other):
        x = np.arange(64, dtype=np.float32)
        launch(x, 3.0)
        results.append(x.tolist())
    assert results[0] == results[1]


@pytest.mark.parametrize("value", [scaled, scaled.over, scaled.over(7), scaled[3, 8]], ids=str)
def test_copies_are_the_same_object(value: Any) -> None:
    assert copy.copy(value) is value
    assert copy.deepcopy([value])[0] is value


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_buffers_come_back_with_their_content(device: str) -> None:
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    buffer = cb.device(device).array(data)
    for other in (again(buffer), copy.copy(buffer), copy.deepcopy(buffer)):
        scaled.over(12)(buffer.numpy().reshape(-1), 0.0)
        assert other.device is buffer.device
        assert np.array_equal(other.numpy(), data)
        assert other is not buffer


def test_what_another_process_could_not_find_is_refused() -> None:
    @cb.cube
    def inner(x: Array[f32]) -> None:
        x[0] = 1.0

    for value in (inner, inner.over, inner.over(3), inner[1, 1], hidden):
        with pytest.raises(NotPicklable, match="find kernels by name"):
            pickle.dumps(value)
    prepared = scaled.over(3).prepare(np.ones(3, np.float32), 2.0)
    with pytest.raises(NotPicklable, match="a prepared launch belongs to its process"):
        pickle.dumps(prepared)
    assert copy.copy(prepared) is prepared


def test_a_kernel_that_is_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pickle.dumps(scaled.over(3))
    monkeypatch.delattr(sys.modules[__name__], "scaled")
    with pytest.raises(NotPicklable, match="of this process has no such kernel"):
        pickle.loads(data)


@pytest.mark.parametrize(
    "kind",
    [kind for _, kind in inspect.getmembers(errors, inspect.isclass)
     if issubclass(kind, errors.CubeError)],
)  # fmt: skip
def test_errors_come_back_whole(kind: type[errors.CubeError]) -> None:
    """A worker that cannot tell what went wrong leaves its parent waiting."""
    loc = Loc(file="kernels.py", line=3)
    complaint = Diagnostic(message="wrong", loc=loc, help="do it right")
    given: tuple[Any, ...] = ("wrong",)
    if issubclass(kind, errors.SourceError | errors.ReferenceFault):
        given = (complaint,)
    elif issubclass(kind, errors.OutOfBoundsError | errors.AssertionFailed):
        given = ("wrong", loc)
    error = kind(*given)
    error.add_note("seen here")
    other = again(error)
    assert type(other) is kind
    assert str(other) == str(error)
    assert other.args == error.args
    assert vars(other) == vars(error)
    assert other.__notes__ == error.__notes__


def test_errors_with_more_than_a_text_come_back_whole() -> None:
    places = [Diagnostic(message=text, loc=Loc(file="k.py", line=1)) for text in ("a", "b")]
    source = again(CubeTypeError(places))
    assert source.diagnostics == tuple(places)
    backend = again(BackendError("ptxas refuses it", output="line 3"))
    assert (str(backend), backend.output) == (
        str(BackendError("ptxas refuses it", output="line 3")),
        "line 3",
    )


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "ue8m0", "tf32"])
def test_formats_are_the_same_everywhere(name: str) -> None:
    format = getattr(cb, name)
    for again in (pickle.loads(pickle.dumps(format)), copy.copy(format), copy.deepcopy(format)):
        assert again is format


def test_what_stays_in_this_process_says_so() -> None:
    device = cb.device("cpu")
    with cb.capture() as recording:
        pass
    stream = device.stream()
    for stays in (stream, stream.record(), device.record(), recording, cb.Layout.tiled((4,), (2,))):
        with pytest.raises(NotPicklable, match=r"(?s)cannot be copied .* help: "):
            pickle.dumps(stays)


def test_layouts_of_functions_that_have_a_name() -> None:
    layout = cb.Layout((4,), abs)
    assert pickle.loads(pickle.dumps(layout)) == layout
    tiled = cb.Layout.tiled((4, 4), (2, 2))
    assert copy.copy(tiled) is tiled
    assert copy.deepcopy(tiled) is tiled
