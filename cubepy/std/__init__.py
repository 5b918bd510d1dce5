"""The device library: functions of kernels, written in the kernel language itself.

`definition` gives the Python function that defines a library op for the type of its first operand;
the compiler lowers it through the front end like any helper. f32 and f64 have algorithms of their
own width; f16 and bf16 compute in f32 and round once more. `accuracy.py` has the measured errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import cubepy as cb
from cubepy.ir import BF16, F16, F64, I32, Scalar
from cubepy.std import (
    bits,
    error_function,
    exponential,
    formats,
    hyperbolic,
    inverse_trigonometric,
    logarithm,
    power,
    roots,
    scaling,
    trigonometric,
)
from cubepy.std.accuracy import LARGEST_ERROR
from cubepy.std.special_values import SPECIAL_VALUES, SPECIAL_VALUES_OF_TWO

__all__ = ["LARGEST_ERROR", "SPECIAL_VALUES", "SPECIAL_VALUES_OF_TWO", "definition"]

Function = Callable[..., Any]

_UNARY: dict[str, Function] = {
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
    "asin": inverse_trigonometric.asin,
    "acos": inverse_trigonometric.acos,
    "atan": inverse_trigonometric.atan,
    "degrees": roots.degrees,
    "radians": roots.radians,
    "sinh": hyperbolic.sinh,
    "cosh": hyperbolic.cosh,
    "tanh": hyperbolic.tanh,
    "asinh": hyperbolic.asinh,
    "acosh": hyperbolic.acosh,
    "atanh": hyperbolic.atanh,
    "sigmoid": hyperbolic.sigmoid,
    "erf": error_function.erf,
    "erfc": error_function.erfc,
    "cbrt": roots.cbrt,
    "rsqrt": roots.rsqrt,
    "frexp_mantissa": scaling.frexp_mantissa,
}
_BINARY: dict[str, Function] = {
    "pow": power.pow,
    "atan2": inverse_trigonometric.atan2,
    "hypot": roots.hypot,
}
_BITS_UNARY: dict[str, Function] = {
    "bit_reverse": bits.bit_reverse,
    "find_first_set": bits.find_first_set,
}
_BITS_BINARY: dict[str, Function] = {
    "rotl": bits.rotl,
    "rotr": bits.rotr,
    "saturating_add": bits.saturating_add,
    "saturating_sub": bits.saturating_sub,
}


@cache
def definition(name: str, type: Scalar) -> tuple[Function, Sequence[Scalar]] | None:
    """The function that defines library op `name` for a first operand of a type, and the types of
    its parameters; None for other ops.
    """
    if type.is_integer:
        return _of_integers(name, type)
    form = formats.F64 if type == F64 else formats.F32
    narrow = {F16: cb.f16, BF16: cb.bf16}.get(type)
    if name in _UNARY:
        function = _UNARY[name]
        return _unary(function, form) if narrow is None else _narrow_unary(function, narrow), (
            type,
        )
    if name in _BINARY:
        function = _BINARY[name]
        made = _binary(function, form) if narrow is None else _narrow_binary(function, narrow)
        return made, (type, type)
    if name == "frexp_exponent":
        function = scaling.frexp_exponent
        return _unary(function, form) if narrow is None else _widened(function), (type,)
    if name == "ldexp":
        return (
            _binary(scaling.ldexp, form)
            if narrow is None
            else _narrow_scaled(scaling.ldexp, narrow)
        ), (type, I32)
    return None


def _of_integers(name: str, type: Scalar) -> tuple[Function, Sequence[Scalar]] | None:
    form = bits.IntegerFormat(
        bits=type.bits,
        signed=type.is_signed,
        minimum=type.minimum,
        maximum=type.maximum,
        type=getattr(cb, type.name),
        unsigned=getattr(cb, f"u{type.bits}"),
    )
    if name in _BITS_UNARY:
        return _unary(_BITS_UNARY[name], form), (type,)
    if name in _BITS_BINARY:
        return _binary(_BITS_BINARY[name], form), (type, type)
    return None


def _unary(function: Function, form: formats.FloatFormat | bits.IntegerFormat) -> Function:
    def unary(value: Any) -> Any:
        return function(value, form)

    return unary


def _binary(function: Function, form: formats.FloatFormat | bits.IntegerFormat) -> Function:
    def binary(lhs: Any, rhs: Any) -> Any:
        return function(lhs, rhs, form)

    return binary


def _narrow_unary(function: Function, narrow: Any) -> Function:
    def narrow_unary(value: Any) -> Any:
        return narrow(function(cb.f32(value), formats.F32))

    return narrow_unary


def _narrow_binary(function: Function, narrow: Any) -> Function:
    def narrow_binary(lhs: Any, rhs: Any) -> Any:
        return narrow(function(cb.f32(lhs), cb.f32(rhs), formats.F32))

    return narrow_binary


def _narrow_scaled(function: Function, narrow: Any) -> Function:
    def narrow_scaled(value: Any, exponent: Any) -> Any:
        return narrow(function(cb.f32(value), exponent, formats.F32))

    return narrow_scaled


def _widened(function: Function) -> Function:
    def widened(value: Any) -> Any:
        return function(cb.f32(value), formats.F32)

    return widened
