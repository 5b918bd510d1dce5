"""Largest errors of the library's functions, in units in the last place of the exact value.

Measured on samples (f32 at one argument in 31, exp at all; f64 and pow at tens of thousands where
they are hard) with a margin for what sampling misses. Tests measure again and compare, and
`tests/nightly` measures f32 at every argument. The half types are f32 results rounded once more:
half a unit and less than a thousandth.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["LARGEST_ERROR"]

#: By op name and type name.
LARGEST_ERROR: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "exp": {"f32": 0.90, "f64": 0.86},
        "exp2": {"f32": 0.90, "f64": 0.83},
        "expm1": {"f32": 1.13, "f64": 1.06},
        "log": {"f32": 0.84, "f64": 0.85},
        "log2": {"f32": 1.00, "f64": 1.25},
        "log10": {"f32": 1.06, "f64": 0.95},
        "log1p": {"f32": 0.86, "f64": 0.78},
        "sin": {"f32": 0.92, "f64": 0.78},
        "cos": {"f32": 0.92, "f64": 0.82},
        "tan": {"f32": 1.11, "f64": 0.9},
        "asin": {"f32": 1.24, "f64": 1.15},
        "acos": {"f32": 1.14, "f64": 1.15},
        "atan": {"f32": 0.75, "f64": 0.68},
        "atan2": {"f32": 1.0, "f64": 1.0},
        "degrees": {"f32": 0.7, "f64": 0.85},
        "radians": {"f32": 0.65, "f64": 0.7},
        "sinh": {"f32": 0.95, "f64": 0.8},
        "cosh": {"f32": 0.98, "f64": 0.8},
        "asinh": {"f32": 1.02, "f64": 0.85},
        "acosh": {"f32": 0.92, "f64": 0.8},
        "atanh": {"f32": 1.1, "f64": 0.85},
        "sigmoid": {"f32": 0.8, "f64": 0.75},
        "cbrt": {"f32": 0.51, "f64": 0.51},
        "rsqrt": {"f32": 1.5, "f64": 1.5},
        "hypot": {"f32": 1.1, "f64": 1.1},
        "tanh": {"f32": 1.01, "f64": 1.03},
        "erf": {"f32": 1.04, "f64": 0.95},
        "erfc": {"f32": 1.16, "f64": 1.2},
        "pow": {"f32": 1.00, "f64": 1.5},
    }
)
