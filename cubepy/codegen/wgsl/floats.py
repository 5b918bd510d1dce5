"""Float ops in WGSL, each as the table says whatever a compiler behind it would like to do.

Compilers of drivers contract, reassociate and fold floats, and WGSL has no word against it. Where a
device's do (`Features.pinned`), results that feed other float ops go through `cb_pin`, comparisons
through `cb_held`. `fma`, and `/` and `sqrt` where a device does not round them right, are integer
code. Halves are computed as f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from cubepy.codegen.structured import Body, Expression, binary, call, primary, unary
from cubepy.codegen.wgsl.conversions import helper, of_f64
from cubepy.codegen.wgsl.types import is_half, machine_of
from cubepy.ir import BOOL, F32, F64, Op, Scalar, ops
from cubepy.target import Topic

if TYPE_CHECKING:
    from cubepy.codegen.wgsl.kernel import WgslKernel

__all__ = ["FLOATS", "float_op"]

Operands = Sequence[Expression]
Emit = Callable[["WgslKernel", Op, Operands], Expression]
IN_INTEGERS = "`{}` in our own code: the device's does not round right, or need not"
PINNED = "pinned, lest a driver's compiler contract or reassociate it"
# Factors and terms that compilers have rules for.
_TEMPTING = frozenset({0.0, 1.0, -1.0})


def float_op(kernel: WgslKernel, body: Body, op: Op, operands: Operands) -> Expression:
    """An op whose last operand is a float."""
    scalar = op.operands[-1].type
    assert isinstance(scalar, Scalar)
    name = op.opdef.name
    if is_half(scalar) and name in _ON_BITS:
        return _ON_BITS[name](scalar, operands)
    if is_half(scalar):
        given = [helper(kernel.prelude, f"cb_widen_{scalar}", each) for each in operands]
        emit = _HALVES.get(name, FLOATS[name])
    else:
        given, emit = [*operands], FLOATS[name]
    if name in _ROUNDED or name in _COMPARED:
        given = _apart(kernel, op, scalar, given)
    made = emit(kernel, op, given)
    if op.type is BOOL:
        held = kernel.pins(op) and name in _COMPARED
        made = helper(kernel.prelude, "cb_held", made) if held else made
        # naga's `!=` is false for NaN
        return unary("!", made) if name == "ne" else made
    if is_half(scalar):
        return helper(kernel.prelude, f"cb_narrow_{scalar}", made)
    pinned = name in _ROUNDED and kernel.pins(op) and kernel.feeds_a_float(op)
    if pinned:
        kernel.notes.add(Topic.VALUE, op, PINNED)
    return _pinned(kernel, scalar, made) if pinned else made


def _pinned(kernel: WgslKernel, scalar: Scalar, value: Expression) -> Expression:
    return helper(kernel.prelude, of_f64("cb_pin", machine_of(scalar)), value)


def _apart(kernel: WgslKernel, op: Op, scalar: Scalar, given: list[Expression]) -> list[Expression]:
    """Operands that no compiler knows: not the same one twice, no 0 and no 1."""
    if not kernel.pins(op):
        return given
    name = op.opdef.name
    for number, operand in enumerate(op.operands):
        constant = operand.opdef is ops.CONST
        tempting = constant and operand.attrs["value"] in _TEMPTING and name in _ROUNDED
        # two loads may be one to a compiler, which then knows what their difference is
        alike = number == 1 and name in _KNOWN_OF_EQUALS and operand.opdef.name not in _ROUNDED
        if tempting or operand in op.operands[:number] or (alike and not constant):
            given[number] = _pinned(kernel, F32 if is_half(scalar) else scalar, given[number])
    return given


def _symbol(symbol: str) -> Emit:
    return lambda kernel, op, given: binary(symbol, *given)


def _helper(name: str) -> Emit:
    return lambda kernel, op, given: helper(kernel.prelude, _for(op, name), *given)


def _for(op: Op, name: str) -> str:
    """The function for the type of an op's operands."""
    scalar = op.operands[-1].type
    assert isinstance(scalar, Scalar)
    return of_f64(name, machine_of(scalar))


def _is_double(op: Op) -> bool:
    """Devices have f64 only if they divide and take roots of it right."""
    return op.operands[-1].type is F64


def _quotient(kernel: WgslKernel, op: Op, given: Operands) -> Expression:
    if kernel.features.exact_division or _is_double(op):
        return binary("/", *given)
    kernel.notes.add(Topic.VALUE, op, IN_INTEGERS.format("/"))
    return helper(kernel.prelude, "cb_div", *given)


def _root(kernel: WgslKernel, op: Op, given: Operands) -> Expression:
    if kernel.features.exact_division or _is_double(op):
        return call("sqrt", *given)
    kernel.notes.add(Topic.VALUE, op, IN_INTEGERS.format("sqrt"))
    return helper(kernel.prelude, "cb_sqrt", *given)


def _fused(kernel: WgslKernel, op: Op, given: Operands) -> Expression:
    if kernel.features.fma_doubles if _is_double(op) else kernel.features.fma:
        return call("fma", *given)
    kernel.notes.add(Topic.VALUE, op, IN_INTEGERS.format("fma"))
    return helper(kernel.prelude, _for(op, "cb_fma"), *given)


FLOATS: Mapping[str, Emit] = {
    "add": _symbol("+"),
    "sub": _symbol("-"),
    "mul": _symbol("*"),
    "div": _quotient,
    "sqrt": _root,
    "fma": _fused,
    "floor_div": _helper("cb_floor_div"),
    "floor_mod": _helper("cb_floor_mod"),
    "fmod": _helper("cb_fmod"),
    "neg": _helper("cb_neg"),
    "abs": _helper("cb_abs"),
    "copysign": _helper("cb_copysign"),
    "sign": _helper("cb_sign"),
    "min": _helper("cb_min"),
    "max": _helper("cb_max"),
    "fmin": _helper("cb_fmin"),
    "fmax": _helper("cb_fmax"),
    "floor": _helper("cb_floor"),
    "ceil": _helper("cb_ceil"),
    "trunc": _helper("cb_trunc"),
    "round": _helper("cb_round"),
    "isnan": _helper("cb_isnan"),
    "isinf": _helper("cb_isinf"),
    "isfinite": _helper("cb_isfinite"),
    "eq": _symbol("=="),
    "ne": _symbol("=="),  # and the opposite of it
    "lt": _symbol("<"),
    "le": _symbol("<="),
    "gt": _symbol(">"),
    "ge": _symbol(">="),
}
# Of halves, a product and a sum rounded once: from an f32 that is rounded to odd.
_HALVES: Mapping[str, Emit] = {"fma": _helper("cb_odd_fma")}
_ROUNDED = frozenset({"add", "sub", "mul", "div", "sqrt", "fma"})
_COMPARED = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_KNOWN_OF_EQUALS = frozenset({"sub", "div", *_COMPARED})


def _half_neg(scalar: Scalar, given: Operands) -> Expression:
    return binary("^", given[0], primary("0x8000u"))


def _half_abs(scalar: Scalar, given: Operands) -> Expression:
    return binary("&", given[0], primary("0x7fffu"))


def _half_copysign(scalar: Scalar, given: Operands) -> Expression:
    size = binary("&", given[0], primary("0x7fffu"))
    return binary("|", size, binary("&", given[1], primary("0x8000u")))


_ON_BITS: Mapping[str, Callable[[Scalar, Operands], Expression]] = {
    "neg": _half_neg,
    "abs": _half_abs,
    "copysign": _half_copysign,
}
