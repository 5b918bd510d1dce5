"""Measures the unary library functions of f32 at all 2**32 arguments, compiled for the CPU device.

`python -m tests.nightly.exhaustive_f32 [--step N] [name …]` prints the largest error of each in
units in the last place, against NumPy's and SciPy's f64 functions, whose own errors are below
2**-26 of that unit; it exits with 1 where `cubepy/std/accuracy.py` states less. A step leaves out
all but each N-th argument. All arguments take some minutes a function.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

import cubepy as cb
from cubepy import Array, f32
from cubepy.std.accuracy import LARGEST_ERROR
from tests.unit.std.measure import REFERENCES, errors_f32

# What stays in the second-level cache.
CHUNK = 1 << 16


@cb.cube
def apply(function: cb.Comptime[Any], x: Array[f32], out: Array[f32]) -> None:
    """One library function on an array."""
    i = cb.ABSOLUTE_POS
    out[i] = function(x[i])


def largest(name: str, step: int) -> tuple[float, float]:
    """The largest error over all arguments, and where."""
    worst, where = -1.0, 0.0
    out = np.empty(CHUNK, np.float32)
    offsets = np.arange(0, CHUNK * step, step, dtype=np.uint64)
    for start in range(0, 1 << 32, CHUNK * step):
        x = (offsets + np.uint64(start)).astype(np.uint32).view(np.float32)
        apply.over(CHUNK)(getattr(cb, name), x, out)
        measured = errors_f32(out, REFERENCES[name](x.astype(np.float64)))
        place = int(np.argmax(measured))
        if measured[place] > worst:
            worst, where = float(measured[place]), float(x[place])
    return worst, where


def main(words: list[str]) -> int:
    """Measure and compare; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("names", nargs="*", default=list(REFERENCES))
    options = parser.parse_args(words)
    failed = 0
    for name in options.names:
        with np.errstate(all="ignore"):
            worst, where = largest(name, options.step)
        stated = LARGEST_ERROR[name]["f32"]
        failed += worst > stated
        print(f"{name:6} {worst:.4f} at {where!r}, stated {stated}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
