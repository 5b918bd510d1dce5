"""Launches in a process that takes itself for one of another system: `python … darwin|win32`.

What the libraries import by the name of the system is imported before; what that system does not
have is taken away, and what only it has is stood in for.
"""

import _ctypes
import ctypes
import importlib.metadata  # noqa: F401
import mmap
import os
import platform  # noqa: F401
import random  # noqa: F401
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401
import time
from ctypes import util  # noqa: F401
from typing import Any

import filelock  # noqa: F401
import llvmlite.binding as llvm
import numpy as np
import platformdirs  # noqa: F401

SYSTEM = sys.argv[1]
POSIX_ONLY = ("fork", "geteuid", "register_at_fork")
KEPT: list[Any] = []


def stand_in(name: str, result: type | None, *arguments: type, call: Any) -> None:
    function = ctypes.CFUNCTYPE(result, *arguments)(call)
    KEPT.append(function)
    llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)


def become() -> None:
    """Take away what the system does not have."""
    sys.platform = SYSTEM
    gone: list[tuple[Any, str]] = [
        (os, "sched_getaffinity"),
        *((mmap, name) for name in dir(mmap) if "MADV" in name),
    ]
    if SYSTEM == "win32":
        gone += [(os, name) for name in POSIX_ONLY]
        gone += [(mmap, name) for name in dir(mmap) if name.startswith(("PROT_", "MAP_"))]
        gone += [(_ctypes, "dlsym")]
    for module, name in gone:
        delattr(module, name)


def stand_in_for_windows() -> None:
    """What its C library has, by means of this one's."""
    libc = ctypes.CDLL(None)
    libc.aligned_alloc.argtypes = (ctypes.c_size_t, ctypes.c_size_t)
    libc.aligned_alloc.restype = ctypes.c_void_p
    libc.free.argtypes = (ctypes.c_void_p,)

    def nap(milliseconds: int) -> int:
        time.sleep(milliseconds / 1000)
        return 0

    def take(size: int, alignment: int) -> int:
        memory: int = libc.aligned_alloc(alignment, size)
        return memory

    number = ctypes.POINTER(ctypes.c_int64)

    def count(place: Any) -> int:
        place[0] = time.monotonic_ns()
        return 1

    def rate(place: Any) -> int:
        place[0] = 10**9
        return 1

    stand_in("QueryPerformanceCounter", ctypes.c_int, number, call=count)
    stand_in("QueryPerformanceFrequency", ctypes.c_int, number, call=rate)
    stand_in("_aligned_malloc", ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, call=take)
    stand_in("_aligned_free", None, ctypes.c_void_p, call=libc.free)
    stand_in("Sleep", ctypes.c_int, ctypes.c_int, call=nap)


become()
if SYSTEM == "win32":
    stand_in_for_windows()

import cubepy as cb  # noqa: E402
from cubepy import Array, f32  # noqa: E402


@cb.cube
def added(x: Array[f32], y: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i] + y[i]


@cb.cube
def reversed_in_cubes(x: Array[f32], out: Array[f32]) -> None:
    part = cb.shared(f32, 64)
    part[cb.UNIT_POS] = x[cb.ABSOLUTE_POS]
    cb.sync_cube()
    out[cb.ABSOLUTE_POS] = part[63 - cb.UNIT_POS]


def main() -> None:
    """Small and large launches, with and without scratch memory, on a stream and in a replay."""
    device = cb.device("cpu")
    assert "launches in machine code" in device.probed
    assert device.probed["launches in machine code"] is not True
    for size in (1, 64, 1 << 21):
        x, out = np.arange(size, dtype=np.float32), np.zeros(size, np.float32)
        launch = added.over(size)
        for _ in range(3):
            launch(x, x, out)
        assert np.array_equal(out, x + x)
        given, made = device.array(x), device.empty(size)
        stream = device.stream()
        launch.on(stream)(given, given, made)
        assert np.array_equal(made.numpy(), x + x)
        with cb.capture() as recording:
            launch(x, out, x)
        recording.replay()
        assert np.array_equal(x, np.float32(3) * np.arange(size, dtype=np.float32))
    x = np.arange(64 * 500, dtype=np.float32)
    out = np.zeros_like(x)
    reversed_in_cubes[500, 64](x, out)
    assert np.array_equal(out, x.reshape(500, 64)[:, ::-1].reshape(-1))
    cb.set_num_threads(3)
    added.over(x.size)(x, x, out)
    assert np.array_equal(out, x + x)
    print("right", cb.num_threads())


if __name__ == "__main__":
    main()
