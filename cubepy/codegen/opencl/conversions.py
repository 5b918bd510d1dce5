"""Conversions between scalars as expressions: integers wrap, floats round once, none trap."""

from __future__ import annotations

from cubepy.codegen.opencl.prelude import Prelude
from cubepy.codegen.opencl.types import is_half, literal, register_type
from cubepy.codegen.structured import Expression, binary, call, unary
from cubepy.ir import BOOL, F32, F64, Scalar

__all__ = ["bitcast", "cast", "narrow", "typed", "widen"]


def typed(scalar: Scalar, value: Expression) -> Expression:
    """A value whose C type is that of its scalar: for overloaded functions and for the bits."""
    text = value.text
    exact = text[0].isalpha() and " " not in text and not text.startswith("launch.")
    return value if exact or scalar.is_float else unary(f"({register_type(scalar)})", value)


def widen(prelude: Prelude, scalar: Scalar, value: Expression) -> Expression:
    """A half as a float; other types as they are."""
    return call(prelude.need("widen", scalar), value) if is_half(scalar) else value


def narrow(prelude: Prelude, scalar: Scalar, value: Expression) -> Expression:
    """A float rounded to a half; other types as they are."""
    return call(prelude.need("narrow", scalar), value) if is_half(scalar) else value


def bitcast(source: Scalar, target: Scalar, value: Expression) -> Expression:
    """The same bits as another type."""
    name = register_type(target)
    if register_type(source) == name:
        return value
    plain = not (source in (F32, F64) or target in (F32, F64))
    return unary(f"({name})", value) if plain else call(f"as_{name}", typed(source, value))


def cast(prelude: Prelude, source: Scalar, target: Scalar, value: Expression) -> Expression:
    """Any scalar to any scalar."""
    if source is target:
        return value
    if is_half(source):
        return cast(prelude, F32, target, widen(prelude, source, value))
    if target is BOOL:
        return binary("!=", value, literal(source, 0))
    if is_half(target):
        return narrow(prelude, target, _as_float(prelude, source, value))
    if source.is_float and target.is_integer:
        return call(prelude.need_conversion(source, target, _limits(source, target)), value)
    same = register_type(source) == register_type(target)  # i64 and index
    return value if same else _plain(target, value)


def _plain(target: Scalar, value: Expression) -> Expression:
    return unary(f"({register_type(target)})", value)


def _as_float(prelude: Prelude, source: Scalar, value: Expression) -> Expression:
    """A number as a float from which one more rounding to a half is right."""
    if source is F64:
        return call(prelude.need_other("odd_float"), value)
    if source.is_integer and source.bits > 16:
        return call(prelude.need("to_odd_float", source), value)
    return value if source is F32 else _plain(F32, value)


def _limits(source: Scalar, target: Scalar) -> dict[str, str]:
    """The floats between which a conversion is defined, and the integers beyond."""
    return {
        "high": literal(source, float(target.maximum + 1)).text,
        "low": literal(source, float(target.minimum)).text,
        "most": literal(target, target.maximum).text,
        "least": literal(target, target.minimum).text,
    }
