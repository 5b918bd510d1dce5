"""Conversions between scalars as expressions: integers wrap, floats round once, none trap."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cubepy.codegen.structured import Expression, binary, call, primary
from cubepy.codegen.wgsl.types import Machine, is_half, literal, machine_of
from cubepy.ir import BOOL, F32, F64, I64, U32, Scalar

if TYPE_CHECKING:
    from cubepy.codegen.wgsl.prelude import Prelude

__all__ = [
    "as_bits",
    "as_pair",
    "bitcast",
    "cast",
    "from_bits",
    "helper",
    "invoked",
    "low_word",
    "moved",
    "of_f64",
    "of_pair",
    "wrapped",
]

_LITERAL = re.compile(r"-?\d+")


def helper(prelude: Prelude, name: str, *arguments: Expression) -> Expression:
    """A call of a function of the library; comparisons among its arguments in parentheses."""
    return invoked(prelude.need(name), *arguments)


def invoked(name: str, *arguments: Expression) -> Expression:
    """A call in which no `<` of one argument and `>` of another look like a list of types."""
    return call(name, *map(_apart, arguments))


def of_f64(name: str, machine: Machine) -> str:
    """What a function of floats is called for values of this kind."""
    return f"{name}_f64" if machine is Machine.F64 else name


def _apart(argument: Expression) -> Expression:
    text, depth = argument.text, 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if depth == 0 and character in "<>" and f" {character}" in text:
            return primary(f"({text})", argument)
    return argument


def wrapped(scalar: Scalar, value: Expression) -> Expression:
    """A word as an integer of the type, which has at most 32 bits."""
    if scalar.bits >= 32:
        return value
    if scalar.is_signed:
        return invoked("extractBits", value, primary("0u"), primary(f"{scalar.bits}u"))
    return binary("&", value, primary(f"{(1 << scalar.bits) - 1}u"))


def low_word(machine: Machine, wanted: Machine, value: Expression) -> Expression:
    """The low 32 bits of an integer."""
    if machine is Machine.PAIR:
        word = primary(f"{_single(value)}.x", value)
        return word if wanted is Machine.U32 else call("i32", word)
    if machine is wanted:
        return value
    if _LITERAL.fullmatch(value.text):
        return literal(U32, int(value.text) & 0xFFFF_FFFF)
    return invoked(wanted.value, value)


def _single(value: Expression) -> str:
    return value.within(primary("").binding)


def moved(prelude: Prelude, machine: Machine, wanted: Machine, value: Expression) -> Expression:
    """An integer that fits both in another kind of register."""
    if machine is wanted:
        return value
    if wanted is not Machine.PAIR:
        return low_word(machine, wanted, value)
    if _LITERAL.fullmatch(value.text):
        return literal(I64, int(value.text))
    if machine is Machine.U32:
        return call("vec2<u32>", value, primary("0u"))
    return helper(prelude, "cb_wide", value)


# ── casts ───────────────────────────────────────────────────────────────────────────────────────


def cast(
    prelude: Prelude, source: Scalar, machine: Machine, target: Scalar, wanted: Machine,
    value: Expression,
) -> Expression:  # fmt: skip
    """Any scalar to any scalar; `machine` and `wanted` say what they are in registers."""
    if source is target:
        return moved(prelude, machine, wanted, value)
    if source is BOOL:
        return _of_bool(target, wanted, value)
    if is_half(source):
        value = helper(prelude, f"cb_widen_{source}", value)
        return cast(prelude, F32, Machine.F32, target, wanted, value)
    if target is BOOL:
        return _as_bool(prelude, machine, value)
    if is_half(target):
        return helper(
            prelude, f"cb_narrow_{target}", _as_odd_float(prelude, source, machine, value)
        )
    if source.is_float and not target.is_float:
        return _as_integer(prelude, source, target, wanted, value)
    if target.is_float:
        if machine is Machine.PAIR:
            return helper(prelude, f"cb_{target}_of_{_sixty_four(source)}", value)
        narrower = source is F64 and target is F32
        return helper(prelude, "cb_f32_of_f64", value) if narrower else invoked(str(target), value)
    return _integers(prelude, source, machine, target, wanted, value)


def _sixty_four(scalar: Scalar) -> str:
    return "i64" if scalar.is_signed else "u64"


def _of_bool(target: Scalar, wanted: Machine, value: Expression) -> Expression:
    if is_half(target):
        one = literal(target, 1.0)
        return invoked("select", primary("0u"), one, value)
    if wanted is Machine.PAIR:
        return call("vec2<u32>", invoked("u32", value), primary("0u"))
    if wanted is Machine.F64:
        return invoked("select", literal(F64, 0.0), literal(F64, 1.0), value)
    return invoked(wanted.value, value)


def _as_bool(prelude: Prelude, machine: Machine, value: Expression) -> Expression:
    if machine in (Machine.F32, Machine.F64):
        return helper(prelude, of_f64("cb_nonzero", machine), value)
    if machine is Machine.PAIR:
        return call("any", binary("!=", value, primary("vec2<u32>(0u, 0u)")))
    return binary("!=", value, primary("0" if machine is Machine.I32 else "0u"))


def _as_odd_float(
    prelude: Prelude, source: Scalar, machine: Machine, value: Expression
) -> Expression:
    """A number as a float from which one more rounding to a half is right."""
    if machine is Machine.F32:
        return value
    if machine is Machine.F64:
        return helper(prelude, "cb_odd_of_f64", value)
    if source.bits <= 16:
        return invoked("f32", value)
    wide = moved(prelude, machine, Machine.PAIR, value)
    return helper(prelude, f"cb_odd_of_{_sixty_four(source)}", wide)


def _as_integer(
    prelude: Prelude, source: Scalar, target: Scalar, wanted: Machine, value: Expression
) -> Expression:
    if target.bits == 64:
        made = helper(prelude, f"cb_{_sixty_four(target)}_of_{source}", value)
        return moved(prelude, Machine.PAIR, wanted, made)
    ends = [primary(literal(target, target.maximum).text)]
    if target.is_signed:
        ends.insert(0, primary(literal(target, target.minimum).text))
    return helper(prelude, f"cb_{machine_of(target).value}_of_{source}", value, *ends)


def _integers(
    prelude: Prelude, source: Scalar, machine: Machine, target: Scalar, wanted: Machine,
    value: Expression,
) -> Expression:  # fmt: skip
    if target.bits == 64:
        return moved(prelude, machine, wanted, value)
    word = low_word(machine, wanted, value)
    inside = target.minimum <= source.minimum and source.maximum <= target.maximum
    return word if inside else wrapped(target, word)


# ── bits ────────────────────────────────────────────────────────────────────────────────────────


def bitcast(
    prelude: Prelude, source: Scalar, machine: Machine, target: Scalar, wanted: Machine,
    value: Expression,
) -> Expression:  # fmt: skip
    """The same bits as another type."""
    if source.bits == 64:
        pair = as_pair(prelude, machine, value)
        return of_pair(prelude, wanted, pair)
    return from_bits(target, as_bits(source, value))


def as_pair(prelude: Prelude, machine: Machine, value: Expression) -> Expression:
    """A value of 64 bits as a pair of words."""
    if machine is Machine.F64:
        return helper(prelude, "cb_pair_of_f64", value)
    return moved(prelude, machine, Machine.PAIR, value)


def of_pair(prelude: Prelude, wanted: Machine, pair: Expression) -> Expression:
    """A value of 64 bits from a pair of words."""
    if wanted is Machine.F64:
        return helper(prelude, "cb_f64_of_pair", pair)
    return moved(prelude, Machine.PAIR, wanted, pair)


def as_bits(scalar: Scalar, value: Expression) -> Expression:
    """The bits of a value of at most 32 bits, as a u32 with zeros above them."""
    if scalar is BOOL:
        return invoked("u32", value)
    machine = machine_of(scalar)
    if is_half(scalar) or machine is Machine.U32:
        return value
    as_word = invoked("bitcast<u32>", value)
    word = as_word if machine is Machine.F32 else low_word(machine, Machine.U32, value)
    return word if scalar.bits == 32 else binary("&", word, primary(f"{(1 << scalar.bits) - 1}u"))


def from_bits(scalar: Scalar, bits: Expression) -> Expression:
    """A value of at most 32 bits from its bits in a u32."""
    if scalar is BOOL:
        return binary("!=", bits, primary("0u"))
    machine = machine_of(scalar)
    if is_half(scalar) or machine is Machine.U32:
        return bits
    return wrapped(scalar, invoked(f"bitcast<{machine.value}>", bits))
