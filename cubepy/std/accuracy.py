"""Largest errors of the library's functions, in units in the last place of the exact value.

Functions of one f16 or bf16 are measured at every argument, those of one f32 by `tests/nightly` at
every argument; f64 and functions of two on samples of tens of thousands where they are hard, with a
margin for what sampling misses. Tests measure again and compare. The half types are f32 results
rounded once more: half a unit and less than a thousandth.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["LARGEST_ERROR"]

#: By op name and type name.
LARGEST_ERROR: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "exp": {"f16": 0.501, "bf16": 0.500, "f32": 0.892, "f64": 0.860},
        "exp2": {"f16": 0.501, "bf16": 0.500, "f32": 0.879, "f64": 0.830},
        "expm1": {"f16": 0.501, "bf16": 0.500, "f32": 1.077, "f64": 1.060},
        "log": {"f16": 0.501, "bf16": 0.500, "f32": 0.801, "f64": 0.850},
        "log2": {"f16": 0.500, "bf16": 0.500, "f32": 1.093, "f64": 1.250},
        "log10": {"f16": 0.501, "bf16": 0.500, "f32": 1.298, "f64": 0.950},
        "log1p": {"f16": 0.501, "bf16": 0.500, "f32": 0.825, "f64": 0.780},
        "sin": {"f16": 0.501, "bf16": 0.500, "f32": 0.880, "f64": 0.780},
        "cos": {"f16": 0.501, "bf16": 0.500, "f32": 0.883, "f64": 0.820},
        "tan": {"f16": 0.501, "bf16": 0.500, "f32": 1.098, "f64": 0.900},
        "asin": {"f16": 0.500, "bf16": 0.500, "f32": 1.184, "f64": 1.150},
        "acos": {"f16": 0.501, "bf16": 0.500, "f32": 1.140, "f64": 1.150},
        "atan": {"f16": 0.501, "bf16": 0.500, "f32": 0.746, "f64": 0.680},
        "atan2": {"f16": 0.501, "bf16": 0.500, "f32": 1.000, "f64": 1.000},
        "degrees": {"f16": 0.500, "bf16": 0.498, "f32": 0.696, "f64": 0.850},
        "radians": {"f16": 0.500, "bf16": 0.500, "f32": 0.630, "f64": 0.700},
        "sinh": {"f16": 0.501, "bf16": 0.500, "f32": 0.969, "f64": 0.800},
        "cosh": {"f16": 0.501, "bf16": 0.500, "f32": 0.966, "f64": 0.800},
        "asinh": {"f16": 0.501, "bf16": 0.500, "f32": 0.983, "f64": 0.850},
        "acosh": {"f16": 0.501, "bf16": 0.500, "f32": 0.994, "f64": 0.800},
        "atanh": {"f16": 0.500, "bf16": 0.499, "f32": 1.069, "f64": 0.850},
        "sigmoid": {"f16": 0.501, "bf16": 0.500, "f32": 0.775, "f64": 0.750},
        "cbrt": {"f16": 0.501, "bf16": 0.500, "f32": 0.505, "f64": 0.510},
        "rsqrt": {"f16": 0.500, "bf16": 0.500, "f32": 1.491, "f64": 1.500},
        "hypot": {"f16": 0.500, "bf16": 0.500, "f32": 1.100, "f64": 1.100},
        "tanh": {"f16": 0.500, "bf16": 0.499, "f32": 1.000, "f64": 1.030},
        "erf": {"f16": 0.501, "bf16": 0.500, "f32": 1.727, "f64": 1.900},
        "erfc": {"f16": 0.501, "bf16": 0.500, "f32": 1.160, "f64": 1.200},
        "pow": {"f16": 0.501, "bf16": 0.500, "f32": 1.000, "f64": 1.500},
    }
)
