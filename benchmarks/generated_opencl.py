"""The OpenCL C we generate beside hand-written OpenCL C: `python -m benchmarks.generated_opencl`.

Both sides run on Intel's device on buffers it already has, turn by turn in one process; the ratio
is the median of the turns' ratios. Every kernel is measured without bounds tests and with them (the
default). Neither side contracts. The hand-written side has the best of its work-group sizes.
"""

import sys
from collections.abc import Callable
from statistics import geometric_mean
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import cubepy as cb
from benchmarks.peers.opencl import fastest, open_device
from benchmarks.rows import ROWS, Array, Row
from benchmarks.timing import in_turns, ratio

# A row that reinterprets NumPy memory as bf16, which buffers do not do.
NOT_ON_BUFFERS = {"bf16_dots"}


def ours_on(device: Any, row: Row, check: str) -> Callable[[], None]:
    """A call that launches on buffers of the device and waits; its answer is checked first."""
    host = row.arguments()
    given = [device.array(each) if isinstance(each, np.ndarray) else each for each in host]
    launch = row.ours(given, check=check)

    def call() -> None:
        launch()
        device.sync()

    call()
    after: list[Array] = [each.numpy() for each in given if isinstance(each, cb.Buffer)]
    if not row.is_right(after):
        raise AssertionError(f"{row.name}: our answer is wrong")
    return call


def ratios(row: Row, anchor: Any, device: Any, turns: int) -> dict[str, tuple[float, float, float]]:
    """Ours, theirs and the ratio, by kind of check."""
    theirs = fastest(anchor, row)
    assert theirs is not None
    found = {}
    for check in ("unchecked", "checked"):
        samples = in_turns({"ours": ours_on(device, row, check), "theirs": theirs}, turns=turns)
        found[check] = (
            min(samples["ours"]), min(samples["theirs"]), ratio(samples["ours"], samples["theirs"])
        )  # fmt: skip
    return found


def main(names: list[str]) -> None:
    """Measure and print."""
    console = Console()
    columns = ("unchecked ms", "checked ms", "hand-written ms", "unchecked ÷", "checked ÷")
    table = Table("kernel", *columns)
    anchor = open_device()
    device = cb.device("opencl")
    collected: dict[str, list[float]] = {"unchecked": [], "checked": []}
    for row in ROWS:
        if not row.source or row.name in NOT_ON_BUFFERS or (names and row.name not in names):
            continue
        found = ratios(row, anchor, device, turns=7)
        for check, (_, _, relative) in found.items():
            collected[check].append(relative)
        ours = [f"{found[check][0]:.2f}" for check in collected]
        each = [f"{found[check][2]:.2f}" for check in collected]
        table.add_row(row.name, *ours, f"{found['checked'][1]:.2f}", *each)
    console.print(table)
    for check, values in collected.items():
        console.print(
            f"{check}: geometric mean {geometric_mean(values):.3f}, worst {max(values):.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
