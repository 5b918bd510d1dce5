"""OpenCL and wgpu beside what is written for them by hand: `python -m benchmarks.gpu`.

Generated kernels beside hand-written ones, launches beside bare ones of pyopencl and wgpu-py, and
what compiling costs before a driver sees anything. All runs turn by turn on the same device, and
every answer is checked. `--part` leaves out the others, ROW the other kernels. The exit status is 1
if a figure misses its limit.
"""

from __future__ import annotations

import argparse
import functools
import sys

from benchmarks.figures import show
from benchmarks.gpu import cold, launches, opencl, wgsl

PARTS = {
    "cold": lambda names: cold.figures(),
    "launches": lambda names: launches.figures(),
    "opencl": opencl.figures,
    "wgsl": wgsl.figures,
}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--part", nargs="+", choices=list(PARTS), default=list(PARTS))
    chosen = parser.parse_args()
    return show([functools.partial(PARTS[part], chosen.rows) for part in chosen.part])


if __name__ == "__main__":
    sys.exit(main())
