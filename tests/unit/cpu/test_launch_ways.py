"""Whichever way a launch takes: floats in the default state, no more threads than it needs."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32
from cubepy.runtime import close_calls, reopen_calls
from cubepy_cpu import entry, jit, probe, threads
from cubepy_cpu.host import host
from tests.unit.cpu import kernels

ROOT = Path(__file__).parents[3]
Call = Callable[[Any, Any], None]


@cb.cube
def halved(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i] * 0.5


@contextmanager
def python_only() -> Iterator[None]:
    close_calls()
    try:
        yield
    finally:
        reopen_calls()


def ways(size: int) -> Iterator[tuple[str, Call]]:
    """The ways of a launch over so many elements."""
    launch, device = halved.over(size), cb.device("cpu")

    def python(x: Any, out: Any) -> None:
        with python_only():
            launch(x, out)

    def strided(x: Any, out: Any) -> None:
        wide = np.zeros((size, 3), np.float32)
        launch(x, wide[:, 1])
        out[:] = wide[:, 1]

    def captured(x: Any, out: Any) -> None:
        with cb.capture() as recording:
            launch(x, out)
        recording.replay()

    def on_a_stream(x: Any, out: Any) -> None:
        stream = device.stream()
        given, made = device.array(x), device.empty(size)
        launch.on(stream)(given, made)
        out[:] = made.numpy()

    def misaligned(x: Any, out: Any) -> None:
        raw = np.zeros(4 * size + 1, np.uint8)
        odd = raw[1:].view(np.float32)
        odd[:] = x
        launch(odd, out)

    yield "call", launch
    yield "prepared", lambda x, out: launch.prepare(x, out)(x, out)
    for way in (python, strided, captured, on_a_stream, misaligned):
        yield way.__name__, way


@pytest.mark.skipif(host().architecture != "x86_64", reason="sets the state of x86-64 by hand")
@pytest.mark.parametrize("size", [64, 300_000])
@pytest.mark.parametrize("number", range(7))
def test_floats_are_in_the_default_state(size: int, number: int) -> None:
    name, way = list(ways(size))[number]
    data = jit.compile_object(kernels.CONTROL)
    prototype = ctypes.PYFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint32))
    get, put = (prototype(jit.load(data, each)) for each in ("get", "set"))
    before, after, odd = ctypes.c_uint32(), ctypes.c_uint32(), ctypes.c_uint32(0xFFC0)
    x, out = np.full(size, 2.0**-140, np.float32), np.empty(size, np.float32)
    for _ in range(3):
        way(x, out)
    for _ in range(3):
        out[:] = 0
        get(ctypes.byref(before))
        put(ctypes.byref(odd))  # flush denormals, round to zero
        try:
            way(x, out)
            get(ctypes.byref(after))
        finally:
            put(ctypes.byref(before))
        assert after.value & 0xFFC0 == odd.value, name
        assert (out.view(np.uint32) == np.float32(2.0**-141).view(np.uint32)).all(), name


SMALL = """
import threading
import numpy as np
import cubepy as cb
from cubepy import Array, f32
from cubepy.runtime import close_calls
from cubepy_cpu import threads

@cb.cube
def doubled(x: Array[f32]):
    x[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS] * 2.0

x = np.ones(64, np.float32)
launch = doubled.over(64)
for _ in range(3):
    launch(x)
close_calls()
for _ in range(3):
    launch(x)
assert x.tolist() == [64.0] * 64
print(threads._state.pool, threading.active_count())
large = np.ones(1 << 24, np.float32)
doubled.over(large.size)(large)
assert (large == 2).all()
print(threads._state.pool is not None)
"""


@pytest.mark.skipif(bool(probe.why_not()), reason=probe.why_not())
def test_small_launches_need_no_pool(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(SMALL)
    paths = os.pathsep.join((str(ROOT), str(ROOT / "runtimes")))
    done = subprocess.run(
        [sys.executable, str(tmp_path / "small.py")], env={**os.environ, "PYTHONPATH": paths},
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("None 1\nTrue\n", "")


def test_blocks_of_another_sort_go_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code takes bytes of the size it knows, and nothing else."""
    seen: list[Any] = []
    out = np.zeros(8, np.int32)
    address, keep = kernels.arguments(out)
    block = ctypes.string_at(address, 8)
    launch = entry.block_launch(kernels.entry(kernels.COUNT), out.size, 0, 100, len(block))
    monkeypatch.setattr(threads, "run", lambda *arguments: seen.append(arguments[1]))
    launch(block)
    assert out.tolist() == ([1] * 8 if not probe.why_not() else [0] * 8)
    del seen[:]
    wrong: list[Any] = [block + b"12345678", bytearray(block), b""]
    for each in wrong:
        launch(each)
    assert seen == wrong
    with pytest.raises(TypeError):
        launch()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        launch(block, block)  # type: ignore[call-arg]
    del keep
