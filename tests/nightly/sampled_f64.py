"""Measures the library's f64 functions, and those of two operands of both types, on large samples.

`python -m tests.nightly.sampled_f64 [--count N] [--seed N] [name …]` prints the largest error of
each in units in the last place against mpmath, and exits with 1 where `cubepy/std/accuracy.py`
states less. 20,000 arguments of each kind take about half a minute a function.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from mpmath import mp, mpf

from cubepy.std.accuracy import LARGEST_ERROR
from tests.unit.std import measure, numpy_kernels, samples


def largest(name: str, count: int, seed: int) -> tuple[float, Any]:
    """The largest f64 error of a unary function, and where."""
    x = samples.spread_f64(name, count, seed)
    got = numpy_kernels.function(name, "f64")(x)
    with mp.workprec(1300 if name in samples.CIRCULAR else 160):
        errors = measure.errors_f64(got, (measure.EXACT[name](mpf(float(v))) for v in x))
    place = int(np.argmax(errors))
    return float(errors[place]), float(x[place])


def largest_of_two(name: str, type: str, count: int, seed: int) -> tuple[float, Any]:
    """The largest error of a function of two operands, and where."""
    operands = samples.pairs(name, np.dtype(type.replace("f", "float")), count, seed)
    got = numpy_kernels.function(name, type)(*operands)
    if type == "f32":
        with np.errstate(all="ignore"):
            exact = measure.REFERENCES_OF_TWO[name](*(part.astype(np.float64) for part in operands))
        errors = measure.errors_f32(got, exact)
    else:
        places = zip(*operands, strict=True)
        with mp.workprec(200):
            errors = measure.errors_f64(
                got,
                (measure.EXACT_OF_TWO[name](mpf(float(a)), mpf(float(b))) for a, b in places),
            )
    place = int(np.argmax(errors))
    return float(errors[place]), tuple(float(part[place]) for part in operands)


def main(words: list[str]) -> int:
    """Measure and compare; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*", default=[*measure.EXACT, *measure.EXACT_OF_TWO])
    options = parser.parse_args(words)
    failed = False
    for name in options.names:
        of_two = name in measure.EXACT_OF_TWO
        for type in ("f32", "f64") if of_two else ("f64",):
            if of_two:
                count = options.count * (100 if type == "f32" else 1)
                worst, where = largest_of_two(name, type, count, options.seed)
            else:
                worst, where = largest(name, options.count, options.seed)
            stated = LARGEST_ERROR[name][type]
            failed |= worst > stated
            print(f"{name:6} {type} {worst:.4f} at {where!r}, stated {stated}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
