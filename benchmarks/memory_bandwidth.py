"""How fast this machine moves memory: the roof for kernels that only stream.

A copy between two arrays far larger than any cache, split over the same number of threads as the
kernels it is compared with. NumPy copies with the C library's memcpy and releases the GIL.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.timing import measure


def available_threads() -> int:
    """Hardware threads this process may use, not the machine's."""
    return len(os.sched_getaffinity(0))


def measure_copy(
    *, copied_bytes: int = 64 << 20, threads: int | None = None, repeats: int = 15
) -> float:
    """Milliseconds of one split copy, which reads `copied_bytes` and writes as many."""
    threads = threads or available_threads()
    source = np.ones(copied_bytes, np.uint8)
    target = np.zeros(copied_bytes, np.uint8)
    pieces = list(
        zip(np.array_split(target, threads), np.array_split(source, threads), strict=True)
    )
    with ThreadPoolExecutor(threads) as pool:

        def copy() -> None:
            list(pool.map(lambda piece: np.copyto(*piece), pieces))

        best_ms = measure(copy, repeats=repeats)
    if not np.array_equal(source, target):
        raise AssertionError("the copy did not copy")
    return best_ms
