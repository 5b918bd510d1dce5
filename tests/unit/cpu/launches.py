"""Kernels whose launches machine code takes, and how to see whether it did."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import cubepy as cb
from cubepy import Array, f32, i32, u64


@cb.cube
def saxpy(a: f32, x: Array[f32], y: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(y):
        y[i] = a * x[i] + y[i]


@cb.cube
def busy(out: Array[u64], rounds: i32) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        v = u64(i) + u64(1)
        for _ in range(rounds):
            v = v * u64(6364136223846793005) + u64(1442695040888963407)
            if v == u64(0):
                break
        out[i] = v


def python_calls(call: Callable[[], object]) -> list[str]:
    """Names of the Python functions that run during a call, but for itself."""
    seen: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen[1:]  # but for `call` itself


def is_native(launch: Callable[..., object], *arguments: Any, **keywords: Any) -> bool:
    return python_calls(lambda: launch(*arguments, **keywords)) == []


def fresh(kernel: Any) -> Any:
    """The same kernel with nothing learnt."""
    return cb.cube(kernel.function)


def ones(count: int = 64) -> Any:
    return np.ones(count, np.float32)


def misaligned(count: int) -> Any:
    made = np.zeros(4 * count + 1, np.uint8)[1:].view(np.float32)
    made[:] = 1
    return made


def read_only(count: int) -> Any:
    made = ones(count)
    made.flags.writeable = False
    return made


class Subclass(np.ndarray[Any, Any]):
    pass
