"""Print what the anchors do on this machine: `python -m benchmarks`.

A peer that is not installed, or does not run here, is named with its reason.
"""

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.memory_bandwidth import available_threads, measure_copy
from benchmarks.opencl_anchor import PeerUnavailable, open_device, run_anchor
from benchmarks.rows import ROWS
from benchmarks.timing import Timing


def add_row(table: Table, name: str, who: str, timing: Timing, moved_bytes: int | None) -> None:
    bandwidth = f"{timing.gigabytes_per_second(moved_bytes):.1f}" if moved_bytes else ""
    table.add_row(name, who, f"{timing.best_ms:.2f}", f"{timing.median_ms:.2f}", bandwidth)


def main() -> None:
    """Measure and print."""
    console = Console()
    table = Table("what", "who", "best ms", "median ms", "GB/s")
    for column in table.columns[2:]:
        column.justify = "right"
    copied = 64 << 20
    threads = available_threads()
    add_row(table, "copy 64 MiB", f"memcpy, {threads} threads", measure_copy(), 2 * copied)
    try:
        device = open_device(threads)
    except PeerUnavailable as error:
        console.print(f"Intel OpenCL: not measured, {error}")
    else:
        console.print(f"{device.name}, OpenCL {device.version}, NumPy {np.__version__}")
        for row in ROWS:
            result = run_anchor(device, row)
            who = f"Intel OpenCL, {device.threads} threads, groups {result.local_size or 'auto'}"
            add_row(table, row.name, who, result.timing, row.moved_bytes)
    console.print(table)


if __name__ == "__main__":
    main()
