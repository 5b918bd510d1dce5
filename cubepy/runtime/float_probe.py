"""How a device computes with floats, judged by what a small kernel gave: hints are not believed.

A probe gives each unit two floats, x and y, and writes twelve results, all of the first kind, then
all of the second, and so on: x / y; the root of |x|; fma(x, y, -x); x * 0.5; (x + y) - x; x * 0;
x - x; x * 3 * 5; x * y + x; x + 0; x / x; 1 where x is NaN, else 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["FLOAT_RESULTS", "float_findings", "float_operands"]

Array = np.ndarray[Any, Any]
FLOAT_RESULTS = 12


def float_operands() -> tuple[Array, Array]:
    """Ordinary numbers of many sizes, denormals, and the special values among each other."""
    random = np.random.default_rng(7)
    bits = random.integers(0, 1 << 32, (2, 8192), dtype=np.uint64).astype(np.uint32)
    near = random.uniform(0.5, 2.0, (2, 8192)).astype(np.float32)
    special = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38], np.float32)
    pairs = np.stack(np.meshgrid(special, special)).reshape(2, -1)
    a, b = np.concatenate([bits.view(np.float32), near, pairs], axis=1)
    return a, b


def float_findings(a: Array, b: Array, out: Array) -> Mapping[str, bool]:
    """Whether `division` (and roots), `fma` and `denormals` are exact, and nothing was rewritten
    (`strict`); `out` has a row for each result.
    """
    with np.errstate(all="ignore"):
        wide = a.astype(np.float64) * b.astype(np.float64)  # exact
        zero, three, five = (np.float32(number) for number in (0, 3, 5))
        expected = [
            a / b,
            np.sqrt(np.abs(a)),
            None,
            a * np.float32(0.5),
            (a + b) - a,
            a * zero,
            a - a,
            a * three * five,
            a * b + a,
            a + zero,
            a / a,
            np.isnan(a).astype(np.float32),
        ]
    # one fused product that no two roundings give, in numbers that f64 holds exactly
    inside = (np.abs(a) > 0.5) & (np.abs(a) < 2) & (np.abs(b) > 0.5) & (np.abs(b) < 2)
    fused = (wide[inside] - a[inside]).astype(np.float32)
    same = [each is None or _same(got, each) for got, each in zip(out, expected, strict=True)]
    return {
        "division": same[0] and same[1],
        "fma": _same(out[2][inside], fused),
        "denormals": same[3],
        "strict": all(same[4:]),
    }


def _same(got: Array, expected: Array) -> bool:
    both = np.isnan(got) & np.isnan(expected)
    return bool(np.all(both | (got.view(np.uint32) == expected.view(np.uint32))))
