"""Measures the unary library functions of f32 at all 2**32 arguments, compiled for the CPU device.

`python -m tests.nightly.exhaustive_f32 [--record] [name …]` prints the largest error of each in
units in the last place. One kernel does it all: it computes the function in f32 and in f64, whose
own error is below 2**-28 of that unit, and each unit keeps the worst of its arguments. What comes
near the largest is measured again with mpmath. Exits with 1 where `cubepy/std/accuracy.py` states
less; `--record` writes what was measured there instead. Under a minute a function.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import numpy as np
from mpmath import mp, mpf

import cubepy as cb
from cubepy import Array, f32, f64, u32, u64
from cubepy.std.accuracy import LARGEST_ERROR
from tests.nightly.record import record
from tests.unit.std import measure, samples

UNITS = 1 << 20
TRIPS = (1 << 32) // UNITS
NEAR = 2.0**-20


def error_of(got: Any, exact: Any) -> Any:
    """The error of an f32 result against an f64 value; infinite for a result of the wrong kind."""
    exponent = (cb.bitcast(u64, exact) >> 52) & 0x7FF
    # the unit is 2**-149 at least, and 2**(exponent - 23) above: these are the bits of 1/unit
    inverse_unit = cb.bitcast(f64, min(2069 - exponent, 1172) << 52)
    distance = abs(f64(got) - exact) * inverse_unit
    nearest = f32(exact)
    kind = cb.isfinite(got) & cb.isfinite(nearest)
    same = (got == nearest) | (cb.isnan(got) & cb.isnan(nearest))
    sign = (got != 0.0) | (cb.copysign(1.0, f64(got)) == cb.copysign(1.0, exact))
    return cb.select(kind, cb.select(sign, distance, math.inf), cb.select(same, f64(0.0), math.inf))


@cb.cube
def search(
    function: cb.Comptime[Any], first: u32, trips: cb.index, worst: Array[f64], where: Array[u32]
) -> None:
    """The largest error among every `UNITS`-th argument, for each unit."""
    i = cb.ABSOLUTE_POS
    largest, place = worst[i], where[i]
    for trip in range(trips):
        bits = first + u32(trip) * UNITS + u32(i)
        x = cb.bitcast(f32, bits)
        error = error_of(function(x), function(f64(x)))
        if error > largest:
            largest, place = error, bits
    worst[i] = largest
    where[i] = place


def largest(name: str, *, trips: int = 256) -> tuple[float, float]:
    """The largest error over all arguments, and where."""
    worst, where = np.full(UNITS, -1.0), np.zeros(UNITS, np.uint32)
    for first in range(0, TRIPS, trips):
        search.over(UNITS)(getattr(cb, name), first * UNITS, trips, worst, where)
    near = np.flatnonzero(worst >= worst.max() - NEAR)[:200]
    if np.isinf(worst.max()):
        return math.inf, float(where[near[:1]].view(np.float32)[0])
    x = np.sort(where[near]).view(np.float32)
    got = np.zeros_like(x)
    apply.over(x.size)(getattr(cb, name), x, got)
    with mp.workprec(1300 if name in samples.CIRCULAR else 160):
        exact = [measure.EXACT[name](mpf(float(argument))) for argument in x]
        errors = [measure.error_f32(float(a), b) for a, b in zip(got, exact, strict=True)]
    place = int(np.argmax(errors))
    return errors[place], float(x[place])


@cb.cube
def apply(function: cb.Comptime[Any], x: Array[f32], out: Array[f32]) -> None:
    """One library function on an array."""
    i = cb.ABSOLUTE_POS
    out[i] = function(x[i])


def main(words: list[str]) -> int:
    """Measure and compare, or record; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("names", nargs="*", default=list(measure.REFERENCES))
    options = parser.parse_args(words)
    failed = 0
    for name in options.names:
        worst, where = largest(name)
        stated = LARGEST_ERROR[name]["f32"]
        failed += worst > stated
        print(f"{name:8} {worst:.6f} at {where!r}, stated {stated}", flush=True)
        if options.record:
            record(name, "f32", worst)
    return int(failed > 0 and not options.record)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
