"""Largest errors of the library's functions, in units in the last place of the exact value.

f32 was measured at every argument (`tests/nightly/exhaustive_f32.py`), pow and f64 on stratified
samples with a margin for what sampling misses; tests measure again and compare. The half types are
f32 results rounded once more, which moves a result across a rounding boundary at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["LARGEST_ERROR"]

#: By op name and type name.
LARGEST_ERROR: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "exp": {"f32": 0.88, "f64": 0.86},
        "exp2": {"f32": 0.86, "f64": 0.83},
        "expm1": {"f32": 1.09, "f64": 1.06},
        "log": {"f32": 0.8, "f64": 0.85},
        "log2": {"f32": 0.97, "f64": 1.25},
        "log10": {"f32": 1.02, "f64": 0.95},
        "log1p": {"f32": 0.83, "f64": 0.78},
        "sin": {"f32": 0.88, "f64": 0.78},
        "cos": {"f32": 0.88, "f64": 0.82},
        "tan": {"f32": 1.08, "f64": 0.9},
        "tanh": {"f32": 1.0001, "f64": 1.03},
        "erf": {"f32": 1.01, "f64": 0.95},
        "erfc": {"f32": 1.12, "f64": 1.2},
        "pow": {"f32": 1.0, "f64": 1.5},
    }
)
