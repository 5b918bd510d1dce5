"""Our kernels beside the same in OpenCL C on Intel's CPU: `python -m benchmarks.versus_opencl`.

Both sides run the same work on the same threads in one process, turn by turn; the ratio is the
median of the turns' ratios. Ours is in the default checked mode, neither side contracts, and both
write into memory they already have. The limit of saxpy is a memcpy of the same bytes over the same
threads.
"""

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.memory_bandwidth import available_threads, measure_copy
from benchmarks.opencl_anchor import open_device, prepare
from benchmarks.opencl_kernels import (
    MANDELBROT_ITERATIONS,
    MANDELBROT_ORIGIN,
    MANDELBROT_SIZE,
    MANDELBROT_STEP,
    MATMUL_SIZE,
    MATMUL_TILE,
    OPENCL_KERNELS,
    OpenclKernel,
)
from benchmarks.timing import measure
from examples import kernels

Call = Callable[[], object]


def saxpy(arguments: list[Any]) -> tuple[Call, list[Any]]:
    return lambda: kernels.saxpy.over(arguments[1].size)(*arguments), arguments


def gelu(arguments: list[Any]) -> tuple[Call, list[Any]]:
    return lambda: kernels.gelu.over(arguments[0].size)(*arguments), arguments


def mandelbrot(arguments: list[Any]) -> tuple[Call, list[Any]]:
    out = arguments[0].reshape(MANDELBROT_SIZE, MANDELBROT_SIZE)
    launch = kernels.mandelbrot.over(out.shape)
    given = (*MANDELBROT_ORIGIN, MANDELBROT_STEP, MANDELBROT_ITERATIONS, out)
    return lambda: launch(*given), arguments


def block_sum(arguments: list[Any]) -> tuple[Call, list[Any]]:
    x, out = arguments[:2]
    launch = kernels.block_sum[x.size // 256, 256]
    return lambda: launch(x, out), arguments


def tiled_matmul(arguments: list[Any]) -> tuple[Call, list[Any]]:
    size, tile = MATMUL_SIZE, MATMUL_TILE
    shaped = [each.reshape(size, size) for each in arguments if isinstance(each, np.ndarray)]
    launch = kernels.matmul[(size // tile, size // tile), (tile, tile)]
    return lambda: launch(*shaped, TILE=tile), arguments


def histogram(arguments: list[Any]) -> tuple[Call, list[Any]]:
    x, counts = arguments[:2]
    return lambda: kernels.histogram.over(x.size)(x, counts), arguments


OURS = {f.__name__: f for f in (saxpy, gelu, mandelbrot, block_sum, tiled_matmul, histogram)}


def compare(ours: Call, theirs: Call, turns: int) -> tuple[float, float, float]:
    """Best times in ms and the median of ours ÷ theirs."""
    samples = []
    for turn in range(turns + 2):
        pair = []
        for call in (ours, theirs):
            start = time.perf_counter()
            call()
            pair.append((time.perf_counter() - start) * 1e3)
        if turn >= 2:
            samples.append(pair)
    return (
        min(pair[0] for pair in samples),
        min(pair[1] for pair in samples),
        median(pair[0] / pair[1] for pair in samples),
    )


def row(device: Any, kernel: OpenclKernel, turns: int) -> tuple[float, float, float]:
    """One kernel on both sides; our answer is checked first."""
    calls = prepare(device, kernel)
    best = min(calls.values(), key=lambda call: measure(call, repeats=3, warm_up=1).best_ms)
    call, arguments = OURS[kernel.name](kernel.arguments())
    call()
    if not kernel.is_right([each for each in arguments if isinstance(each, np.ndarray)]):
        raise AssertionError(f"{kernel.name}: our answer is wrong")
    return compare(call, best, turns)


def main(names: list[str]) -> None:
    """Measure and print."""
    console, table = Console(), Table("kernel", "ours ms", "Intel ms", "ours ÷ Intel")
    threads = available_threads()
    device = open_device(threads)
    for kernel in OPENCL_KERNELS:
        if names and kernel.name not in names:
            continue
        ours, theirs, ratio = row(device, kernel, turns=15)
        table.add_row(kernel.name, f"{ours:.2f}", f"{theirs:.2f}", f"{ratio:.2f}")
    copy = measure_copy()
    console.print(table)
    console.print(f"memcpy of 64 MiB over {threads} threads: {copy.best_ms:.2f} ms best")


if __name__ == "__main__":
    main(sys.argv[1:])
