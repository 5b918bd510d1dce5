"""Errors in units in the last place against NumPy and SciPy in f64, and against mpmath.

The unit is that of the exact value: 2**(exponent - 23) for f32, but never less than the smallest
denormal. A result of the wrong kind (NaN, infinity) has an infinite error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from mpmath import mp, mpf
from scipy import special

Array = Any

#: f64 functions with errors far below the last place of f32.
REFERENCES: dict[str, Callable[[Array], Array]] = {
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
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "acosh": np.arccosh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "cosh": np.cosh,
    "sinh": np.sinh,
    "tanh": np.tanh,
    "sigmoid": special.expit,
    "cbrt": np.cbrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "degrees": np.degrees,
    "radians": np.radians,
    "erf": special.erf,
    "erfc": special.erfc,
}
EXACT: dict[str, Callable[[mpf], mpf]] = {
    "exp": mp.exp,
    "exp2": lambda x: mpf(2) ** x,
    "expm1": mp.expm1,
    "log": mp.log,
    "log2": lambda x: mp.log(x, 2),
    "log10": mp.log10,
    "log1p": mp.log1p,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "acos": mp.acos,
    "asin": mp.asin,
    "atan": mp.atan,
    "acosh": mp.acosh,
    "asinh": mp.asinh,
    "atanh": mp.atanh,
    "cosh": mp.cosh,
    "sinh": mp.sinh,
    "tanh": mp.tanh,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "degrees": mp.degrees,
    "radians": mp.radians,
    "erf": mp.erf,
    "erfc": mp.erfc,
}
#: The same for functions of two operands.
REFERENCES_OF_TWO: dict[str, Callable[[Array, Array], Array]] = {
    "pow": np.power,
    "atan2": np.arctan2,
    "hypot": np.hypot,
}
EXACT_OF_TWO: dict[str, Callable[[mpf, mpf], mpf]] = {
    "pow": mp.power,
    "atan2": mp.atan2,
    "hypot": mp.hypot,
}
#: From here on values round to infinity.
LIMIT_F32 = float(2**128 - 2**103)
LIMIT_F64 = mpf(2) ** 1024 - mpf(2) ** 970


def errors_f32(got: Array, exact: Array) -> Array:
    """Errors of f32 results against f64 values."""
    exponents = (exact.view(np.int64) >> 52) & 0x7FF
    # The bits of 1/unit: the unit is 2**-149 at least, and 2**(exponent - 23) above.
    inverse_units = (np.minimum(2069 - exponents, 1172) << 52).view(np.float64)
    with np.errstate(all="ignore"):
        distance = np.abs(got - exact) * inverse_units
        strange = np.flatnonzero(~np.isfinite(got) | ~(np.abs(exact) < LIMIT_F32))
        near = exact[strange].astype(np.float32)
    same = (got[strange] == near) | (np.isnan(got[strange]) & np.isnan(near))
    distance[strange] = np.where(same, 0.0, np.inf)
    return distance


#: Fraction bits, the exponent of the smallest denormal, and from where on results are infinite.
HALVES: dict[str, tuple[int, int, float]] = {
    "f16": (10, -24, 65520.0),
    "bf16": (7, -133, float(2**128 - 2**119)),
}


def errors_half(got: Array, exact: Array, type: str) -> Array:
    """Errors of f16 or bf16 results, given as f64, against f64 values."""
    fraction_bits, smallest, limit = HALVES[type]
    with np.errstate(all="ignore"):
        exponents = np.maximum(np.frexp(exact)[1] - 1 - fraction_bits, smallest)
        distance = np.ldexp(np.abs(got - exact), -exponents)
    infinite = np.where(np.abs(exact) >= limit, np.copysign(np.inf, exact), exact)
    same = (got == infinite) | (np.isnan(got) & np.isnan(exact))
    usual = np.isfinite(got) & (np.abs(exact) < limit)
    return np.where(usual, distance, np.where(same, 0.0, np.inf))


def error_f32(got: float, exact: mpf) -> float:
    """The error of one f32 result."""
    return _error(got, exact, limit=mpf(LIMIT_F32), bits=24, smallest=-149)


def error_f64(got: float, exact: mpf) -> float:
    """The error of one f64 result."""
    return _error(got, exact, limit=LIMIT_F64, bits=53, smallest=-1074)


def _error(got: float, exact: mpf, *, limit: mpf, bits: int, smallest: int) -> float:
    if abs(exact) >= limit or not math.isfinite(got):
        same = math.isinf(got) and abs(exact) >= limit and (got > 0) == (exact > 0)
        return 0.0 if same else math.inf
    exponent = mp.frexp(exact)[1] if exact else smallest
    return float(abs(mpf(got) - exact) / mpf(2) ** max(int(exponent) - bits, smallest))


def errors_f64(got: Array, exact: Iterable[mpf]) -> Array:
    """Errors of f64 results."""
    return np.array(
        [error_f64(float(value), right) for value, right in zip(got, exact, strict=True)]
    )
