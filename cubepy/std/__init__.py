"""The device library: functions of kernels, written in the kernel language itself.

`definition` gives the Python function that defines a library op for a float type; the compiler
lowers it through the front end like any helper. f32 and f64 have algorithms of their own width; f16
and bf16 compute in f32 and round once more. `accuracy.py` has the measured errors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import cubepy as cb
from cubepy.ir import BF16, F16, F64, Scalar
from cubepy.std import (
    error_function,
    exponential,
    formats,
    hyperbolic,
    logarithm,
    power,
    trigonometric,
)

__all__ = ["definition"]

Definition = Callable[..., Any]

_UNARY: dict[str, Definition] = {
    "exp": exponential.exp,
    "exp2": exponential.exp2,
    "expm1": exponential.expm1,
    "log": logarithm.log,
    "log2": logarithm.log2,
    "log10": logarithm.log10,
    "log1p": logarithm.log1p,
    "sin": trigonometric.sin,
    "cos": trigonometric.cos,
    "tan": trigonometric.tan,
    "tanh": hyperbolic.tanh,
    "erf": error_function.erf,
    "erfc": error_function.erfc,
}
_BINARY: dict[str, Definition] = {"pow": power.pow}


@cache
def definition(name: str, type: Scalar) -> Definition | None:
    """The function that defines library op `name` for operands of a float type, or None."""
    form = formats.F64 if type == F64 else formats.F32
    narrow = {F16: cb.f16, BF16: cb.bf16}.get(type)
    if name in _UNARY:
        return _unary(_UNARY[name], form) if narrow is None else _narrow_unary(_UNARY[name], narrow)
    if name in _BINARY:
        return (
            _binary(_BINARY[name], form)
            if narrow is None
            else _narrow_binary(_BINARY[name], narrow)
        )
    return None


def _unary(function: Definition, form: formats.FloatFormat) -> Definition:
    def unary(value: Any) -> Any:
        return function(value, form)

    return unary


def _binary(function: Definition, form: formats.FloatFormat) -> Definition:
    def binary(lhs: Any, rhs: Any) -> Any:
        return function(lhs, rhs, form)

    return binary


def _narrow_unary(function: Definition, narrow: Any) -> Definition:
    def narrow_unary(value: Any) -> Any:
        return narrow(function(cb.f32(value), formats.F32))

    return narrow_unary


def _narrow_binary(function: Definition, narrow: Any) -> Definition:
    def narrow_binary(lhs: Any, rhs: Any) -> Any:
        return narrow(function(cb.f32(lhs), cb.f32(rhs), formats.F32))

    return narrow_binary
