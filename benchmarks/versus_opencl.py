"""Our kernels beside the same in OpenCL C on Intel's CPU: `python -m benchmarks.versus_opencl`.

Both sides run the same work on the same threads in one process, turn by turn; the ratio is the
median of the turns' ratios. Ours is in the default checked mode, neither side contracts, and both
write into memory they already have. The limit of saxpy is a memcpy of the same bytes over the same
threads.
"""

import sys
import time
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.memory_bandwidth import available_threads, measure_copy
from benchmarks.opencl_anchor import open_device, prepare
from benchmarks.rows import ROWS, Call, Row
from benchmarks.timing import measure


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


def against_intel(device: Any, row: Row, turns: int) -> tuple[float, float, float]:
    """One kernel on both sides; our answer is checked first."""
    calls = prepare(device, row)
    best = min(calls.values(), key=lambda call: measure(call, repeats=3, warm_up=1).best_ms)
    arguments = row.arguments()
    call = row.ours(arguments)
    call()
    if not row.is_right([each for each in arguments if isinstance(each, np.ndarray)]):
        raise AssertionError(f"{row.name}: our answer is wrong")
    return compare(call, best, turns)


def main(names: list[str]) -> None:
    """Measure and print."""
    console, table = Console(), Table("kernel", "ours ms", "Intel ms", "ours ÷ Intel")
    threads = available_threads()
    device = open_device(threads)
    for row in ROWS:
        if names and row.name not in names:
            continue
        ours, theirs, ratio = against_intel(device, row, turns=15)
        table.add_row(row.name, f"{ours:.2f}", f"{theirs:.2f}", f"{ratio:.2f}")
    copy = measure_copy()
    console.print(table)
    console.print(f"memcpy of 64 MiB over {threads} threads: {copy.best_ms:.2f} ms best")


if __name__ == "__main__":
    main(sys.argv[1:])
