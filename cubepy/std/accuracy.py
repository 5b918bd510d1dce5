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
        "exp": {"f32": 0.87, "f64": 0.90},
        "exp2": {"f32": 0.73, "f64": 0.80},
        "expm1": {"f32": 0.90, "f64": 1.05},
        "log": {"f32": 0.71, "f64": 0.80},
        "log2": {"f32": 0.80, "f64": 0.90},
        "log10": {"f32": 0.95, "f64": 0.95},
        "log1p": {"f32": 0.80, "f64": 0.80},
        "sin": {"f32": 0.85, "f64": 0.85},
        "cos": {"f32": 0.85, "f64": 0.85},
        "tan": {"f32": 1.00, "f64": 0.95},
        "tanh": {"f32": 1.00, "f64": 1.05},
        "erf": {"f32": 1.10, "f64": 1.00},
        "erfc": {"f32": 1.60, "f64": 1.40},
        "pow": {"f32": 1.00, "f64": 1.10},
    }
)
