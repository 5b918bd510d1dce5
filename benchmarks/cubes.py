"""What the size of a cube costs, and what tests cost, at the rim of short rows and where nothing is
tested ahead: `python -m benchmarks.cubes`.

One thread, CPU time, the default checked mode, turn by turn; figures are ratios of the best runs.
The exit status is 1 if a figure misses its limit.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

import cubepy as cb
from benchmarks.figures import Figure, show
from benchmarks.rows import ROWS
from cubepy import Array, Tensor, f32

LENGTH, TURNS = 1 << 17, 25
SIZES = (1, 2, 3, 7, 8, 16, 31, 32, 64, 100, 128, 256, 500, 512, 777, 1024)


@cb.cube
def weighted(a: f32, x: Array[f32], y: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = a * x[i] + y[i]


@cb.cube
def curve(a: f32, x: Array[f32], y: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = a * cb.exp(-x[i] * x[i]) + cb.sin(y[i])


def best_ms(calls: Mapping[Any, Callable[[], object]], turns: int = TURNS) -> dict[Any, float]:
    """The least CPU time of each call."""
    best = dict.fromkeys(calls, float("inf"))
    for turn in range(turns + 1):
        for name, call in calls.items():
            start = time.process_time()
            call()
            if turn:
                best[name] = min(best[name], 1e3 * (time.process_time() - start))
    return best


def sizes() -> Iterator[Figure]:
    """Element-wise kernels in cubes of every size, beside the best one."""
    x, y, out = (np.linspace(-1, 1, LENGTH, dtype=np.float32) for _ in range(3))
    for kernel in (weighted, curve):
        best = best_ms({
            size: partial(kernel.launcher(-(-LENGTH // size), size), np.float32(0.5), x, y, out)
            for size in SIZES
        })  # fmt: skip
        least = min(best.values())
        worst = max(best, key=lambda size: best[size])
        name = f"{kernel.function.__name__}: cubes of {worst}, the slowest, ÷ the best"
        yield Figure(name=name, value=best[worst] / least, unit="", limit=1.3)


@cb.cube
def inner_means(field: Tensor[f32], out: Tensor[f32]) -> None:
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    if 0 < y < field.shape[0] - 1 and 0 < x < field.shape[1] - 1:
        total = 0.0
        for dy in cb.unroll(range(-1, 2)):
            for dx in cb.unroll(range(-1, 2)):
                total += field[y + dy, x + dx]
        out[y, x] = total / 9.0


SHORT_ROWS = (66, 128, 1000)


def rims() -> Iterator[Figure]:
    """A stencil whose guard keeps it off the rim, on rows so short that the rim counts."""
    for width in SHORT_ROWS:
        field = np.ones((LENGTH // width, width), np.float32)
        out = np.zeros_like(field)
        checks = ("checked", "unchecked")
        best = best_ms({
            check: partial(inner_means.over(field.shape, check=check), field, out)
            for check in checks
        })  # fmt: skip
        name = f"3×3 means, rows of {width}: checked ÷ unchecked"
        yield Figure(name=name, value=best["checked"] / best["unchecked"], unit="", limit=1.3)


_GENERAL = "cpu+without=facts"
ROWS_WITHOUT = ("saxpy", "exp", "grey", "logistic", "stencil", "softmax", "naive_matmul")


def _on(device: str, call: Callable[[], object]) -> None:
    """A call on a device that is the default while it runs."""
    cb.set_default_device(device)
    call()
    cb.set_default_device("cpu")


def general() -> Iterator[Figure]:
    """Rows of the table without the version of the code that a test of its guards opens."""
    for row in ROWS:
        if row.name not in ROWS_WITHOUT:
            continue
        call = row.ours(row.arguments())
        best = best_ms({name: partial(_on, name, call) for name in ("cpu", _GENERAL)}, turns=3)
        value = best[_GENERAL] / best["cpu"]
        yield Figure(name=f"{row.name}: general ÷ fast version", value=value, unit="", limit=1.3)


if __name__ == "__main__":
    cb.set_num_threads(1)
    sys.exit(show((sizes, rims, general)))
