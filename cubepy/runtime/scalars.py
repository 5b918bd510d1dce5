"""Scalar arguments: numbers converted to their parameter's type and range-checked.

What would lose more than a rounding is an :class:`ArgumentError`: integers out of range, floats for
integer parameters, finite floats that would become infinite.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cubepy import ir
from cubepy.errors import ArgumentError, shown
from cubepy.ir import BOOL, F64, I64, Scalar, scalar_of_numpy

__all__ = ["convert_scalar"]


def convert_scalar(value: object, type: Scalar, place: str) -> int | float | bool:
    """`value` as a Python number that `type` holds exactly; `place` opens an error's message."""
    number = _number(value, type, place)
    if type is BOOL:
        if not isinstance(number, bool):
            raise ArgumentError(f"{place}: expected bool, got {shown(value)}\n  help: pass bool(…)")
        return number
    if isinstance(number, bool):
        raise ArgumentError(f"{place}: expected {type}, got {value!r}\n  help: pass int({value!r})")
    if type.is_float:
        return _to_float(number, type, place)
    if isinstance(number, float):
        raise ArgumentError(
            f"{place}: expected {type}, got the float {number!r}\n  help: pass int(…)"
        )
    if not type.minimum <= number <= type.maximum:
        raise ArgumentError(
            f"{place}: {shown(number)} does not fit {type} ({type.minimum} to {type.maximum})\n"
            "  help: annotate the parameter with a wider type, or pass another number"
        )
    return number


def _number(value: object, type: Scalar, place: str) -> int | float | bool:
    """A Python number of the same value."""
    if isinstance(value, bool | int | float):
        return value if isinstance(value, bool) else _plain(value)
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        element = scalar_of_numpy(value.dtype)
        if element is BOOL:
            return bool(value)
        if element is not None:
            return float(value) if element.is_float else int(value)
    if isinstance(value, np.ndarray):
        raise ArgumentError(
            f"{place}: expected {type}, got an array of {value.dtype} with shape {value.shape}\n"
            "  help: pass one element, or annotate the parameter as Array[T]"
        )
    raise ArgumentError(
        f"{place}: expected {type}, got {value.__class__.__name__}\n  help: pass a number"
    )


def _plain(value: int | float) -> int | float:
    """Without the class of an IntEnum or np.float64."""
    return int(value) if isinstance(value, int) else float(value)


def _to_float(number: int | float, type: Scalar, place: str) -> float:
    try:
        rounded = _round(number, type)
    except OverflowError:
        rounded = math.inf
    if math.isinf(rounded) and not (isinstance(number, float) and math.isinf(number)):
        raise ArgumentError(
            f"{place}: {shown(number)} is too large for {type}\n"
            "  help: annotate the parameter with a wider type, f64 for example"
        )
    return rounded


def _round(number: int | float, type: Scalar) -> float:
    """One rounding to nearest even, as conversions of kernels do."""
    if type is F64:
        return float(number)
    if isinstance(number, int):
        number = _shortened(number)
        if isinstance(number, int):
            return _cast(np.array(number, np.int64), type)
    return _cast(np.array(number, np.float64), type)


def _shortened(number: int) -> int | float:
    """`number`, or one that rounds the same way: 53 bits whose last stands for all that follow."""
    excess = number.bit_length() - 53
    if excess <= 10:
        return number
    sign = -1 if number < 0 else 1
    kept, lost = divmod(abs(number), 1 << excess)
    return math.ldexp(sign * (kept | bool(lost)), excess)


def _cast(array: np.ndarray[Any, Any], type: Scalar) -> float:
    cast = ir.ops.CAST.evaluate
    assert cast is not None
    source = I64 if array.dtype == np.int64 else F64
    assert array.dtype == source.numpy
    with np.errstate(all="ignore"):
        return float(cast(array, type=type, attrs={"to": type}))
