"""What a row must compute: its own `evaluate`, or mpmath where the library defines the function.

mpmath works with as many digits as an argument needs and is rounded once to the result's type;
zeros, infinities and NaN follow the C library, which follows C99 Annex F.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath
import numpy as np

from cubepy.ir import Attrs, OpDef, Scalar, ops

__all__ = ["exact_value"]

Array = np.ndarray[Any, Any]

DIGITS = 60

_EXACT: Mapping[str, Callable[..., Any]] = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
    "log1p": lambda x: mpmath.log(1 + x),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "atan2": mpmath.atan2,
    "degrees": mpmath.degrees,
    "radians": mpmath.radians,
    "sinh": lambda x: mpmath.sinh(_up_to(x, 800)),
    "cosh": lambda x: mpmath.cosh(_up_to(x, 800)),
    "tanh": mpmath.tanh,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-_up_to(x, 800))),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "hypot": mpmath.hypot,
    "erf": lambda x: mpmath.erf(_up_to(x, 50)),
    "erfc": lambda x: mpmath.erfc(_up_to(x, 50)),
    "pow": mpmath.power,
}


def _up_to(x: Any, limit: int) -> Any:
    """`x` cut off where the function has reached its limit: mpmath cannot do arguments of 1e200."""
    return max(min(x, mpmath.mpf(limit)), mpmath.mpf(-limit))


_ERF = np.vectorize(math.erf, otypes=[np.float64])
_ERFC = np.vectorize(math.erfc, otypes=[np.float64])


def _power(base: Any, exponent: Any) -> Any:
    """Annex F: 1 for an exponent of 0 and for a base of 1, whatever NaN stands beside it."""
    certain = (exponent == 0) | (base == 1)
    return np.where(certain, np.ones_like(base), np.power(base, exponent))


def _hypot(x: Array, y: Array) -> Any:
    """Infinite beside a NaN of any kind; the C library makes an exception of signalling ones."""
    return np.where(np.isinf(x) | np.isinf(y), np.inf, np.hypot(x, y))


_SPECIAL: Mapping[str, Callable[..., Any]] = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "degrees": np.degrees, "radians": np.radians, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "cbrt": np.cbrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "hypot": _hypot, "erf": _ERF, "erfc": _ERFC, "pow": _power,
}  # fmt: skip


def exact_value(row: OpDef, operands: Sequence[Array], *, type: Scalar, attrs: Attrs) -> Array:
    """What the row gives for arrays of operands."""
    with np.errstate(all="ignore"):
        if row.evaluate is not None:
            return np.ascontiguousarray(row.evaluate(*operands, type=type, attrs=attrs))
        return _by_mpmath(row.name, operands, type)


def _by_mpmath(name: str, operands: Sequence[Array], type: Scalar) -> Array:
    wide = [operand.astype(np.float64) for operand in operands]
    result = np.asarray(_SPECIAL[name](*wide))
    usual = np.isfinite(wide[0]) & (wide[0] != 0)
    for other in wide[1:]:
        usual &= np.isfinite(other) & (other != 0)
    usual &= ~np.isnan(result)
    values: Array = _to_type(result, type)
    for at in np.flatnonzero(usual):
        arguments = tuple([float(column[at]) for column in wide])
        values[at] = _rounded(name, arguments, type)
    return values


@functools.lru_cache(maxsize=1 << 15)
def _rounded(name: str, arguments: tuple[float, ...], type: Scalar) -> Any:
    """The value for numbers other than 0; every mode of a case asks for much the same ones."""
    return _round(_compute(name, arguments), type)


def _compute(name: str, arguments: tuple[float, ...]) -> Any:
    """With more digits for small arguments, whose function values cancel: log1p(1e-300)."""
    smallest = min(abs(argument) for argument in arguments)
    digits = DIGITS + (int(-math.log10(smallest)) if smallest < 1 else 0)
    with mpmath.workdps(digits):
        return _EXACT[name](*(mpmath.mpf(argument) for argument in arguments))


def _round(value: Any, type: Scalar) -> Any:
    """One rounding to the type: f64 rounded to odd does not disturb a second rounding."""
    if abs(value) > mpmath.mpf(2) ** 1030:
        return type.numpy.type(math.copysign(math.inf, value))
    if type.bits == 64:
        return np.float64(float(value))
    near = float(value)
    if near != value and not math.isinf(near):
        bits = np.float64(near).view(np.uint64)
        beyond = mpmath.mpf(near) if near else mpmath.mpf(0)
        if abs(beyond) > abs(value):
            bits -= np.uint64(1)
        near = float((bits | np.uint64(1)).view(np.float64))
    return _to_type(np.float64(near), type)


def _to_type(value: Any, type: Scalar) -> Any:
    assert ops.CAST.evaluate is not None
    return np.array(ops.CAST.evaluate(np.asarray(value), type=type, attrs={"to": type}))
