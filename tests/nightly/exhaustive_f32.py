"""Measures every unary library function of f32 at all 2**32 arguments on the CPU device.

`python tests/nightly/exhaustive_f32.py [name …]` prints the largest error of each in units in the
last place against NumPy's and SciPy's f64 functions, whose own errors are 2**-28 of that unit, and
exits with 1 where `cubepy/std/accuracy.py` states less. A few minutes a function on one core.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

import cubepy as cb
from cubepy import Array, f32
from cubepy.std import accuracy

CHUNK = 1 << 20
#: From here on a value rounds to infinity.
LIMIT = float(2**128 - 2**103)
REFERENCES: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "erf": special.erf,
    "erfc": special.erfc,
}


@cb.cube
def apply(function: cb.Comptime[Any], x: Array[f32], out: Array[f32]) -> None:
    """One library function on an array."""
    i = cb.ABSOLUTE_POS
    out[i] = function(x[i])


def errors(got: Any, exact: Any) -> Any:
    """Distance in units in the last place of the exact value; infinite where the kind differs."""
    exponents = (exact.view(np.int64) >> 52) & 0x7FF
    # The bits of 1/unit: the unit is 2**-149 at least, and 2**(exponent - 23) above.
    inverse_units = (np.minimum(2069 - exponents, 1172) << 52).view(np.float64)
    distance = np.abs(got - exact) * inverse_units
    strange = np.flatnonzero(~np.isfinite(got) | ~(np.abs(exact) < LIMIT))
    near = exact[strange].astype(np.float32)
    same = (got[strange] == near) | (np.isnan(got[strange]) & np.isnan(near))
    distance[strange] = np.where(same, 0.0, np.inf)
    return distance


def largest(name: str) -> tuple[float, float]:
    """The largest error over all arguments, and where."""
    worst, where = -1.0, 0.0
    out = np.empty(CHUNK, np.float32)
    for start in range(0, 1 << 32, CHUNK):
        x = np.arange(start, start + CHUNK, dtype=np.uint32).view(np.float32)
        apply.over(CHUNK)(getattr(cb, name), x, out)
        measured = errors(out, REFERENCES[name](x.astype(np.float64)))
        place = int(np.argmax(measured))
        if measured[place] > worst:
            worst, where = float(measured[place]), float(x[place])
    return worst, where


def main(names: list[str]) -> int:
    """Measure and compare; the exit status."""
    failed = 0
    for name in names or list(REFERENCES):
        with np.errstate(all="ignore"):
            worst, where = largest(name)
        stated = accuracy.LARGEST_ERROR[name]["f32"]
        failed += worst > stated
        print(f"{name:6} {worst:.4f} at {where!r}, stated {stated}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
