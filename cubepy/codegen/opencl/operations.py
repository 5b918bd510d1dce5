"""What each op without effects is in OpenCL C: one line an op, keyed by its name.

`VALUES` maps names to functions `(kernel, body, op, operands) -> expression`; its keys are the
value ops that the target has natively. Integers wrap because they are computed as unsigned where
the ranges do not show that they stay inside; nothing traps and nothing is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cubepy.codegen.opencl.conversions import bitcast, cast, narrow, typed, widen
from cubepy.codegen.opencl.types import is_half, literal, register_type, unsigned_type
from cubepy.codegen.structured import (
    Binding,
    Body,
    Expression,
    binary,
    call,
    primary,
    shift_of_floored,
    unary,
)
from cubepy.ir import BOOL, F32, F64, I32, NARROW, U32, U64, Op, Scalar, scalar_type

if TYPE_CHECKING:
    from cubepy.codegen.opencl.kernel import OpenclKernel

__all__ = ["VALUES", "Emit"]

Operands = Sequence[Expression]
Emit = Callable[["OpenclKernel", Body, Op, Operands], Expression]
# An expression of floats, halves widened to them.
OnFloats = Callable[["OpenclKernel", Scalar, Operands], Expression]
VALUES: dict[str, Emit] = {}
_WORD = U32


def _plain(scalar: Scalar, value: Expression) -> Expression:
    return unary(f"({register_type(scalar)})", value)


def choose(condition: Expression, a: Expression, b: Expression) -> Expression:
    """`condition ? a : b`."""
    parts = (condition.within(Binding.UNARY), a.within(Binding.UNARY), b.within(Binding.UNARY))
    text = "{} ? {} : {}".format(*parts)
    return Expression(text, Binding.CHOICE, condition.slots | a.slots | b.slots)


def _through_f32(kernel: OpenclKernel, op: Op, operands: Operands, emit: OnFloats) -> Expression:
    """A float op; halves are widened, and the result is rounded once."""
    scalar = scalar_type(op.operands[-1])
    if not is_half(scalar):
        return emit(kernel, scalar, operands)
    wide = [widen(kernel.prelude, scalar, operand) for operand in operands]
    made = emit(kernel, F32, wide)
    return narrow(kernel.prelude, scalar, made) if op.type is scalar else made


# ── arithmetic ──────────────────────────────────────────────────────────────────────────────────


def _arithmetic(symbol: str) -> Emit:
    def emit(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
        scalar = scalar_type(op)
        if scalar.is_float:
            return _through_f32(
                kernel, op, operands, lambda kernel, scalar, given: binary(symbol, *given)
            )
        return wrapped(body, op, symbol, operands)

    return emit


def wrapped(body: Body, op: Op, symbol: str, operands: Operands) -> Expression:
    """A sum, difference or product of integers, modulo the width."""
    scalar = scalar_type(op)
    if scalar.bits < 32:
        first = _plain(_WORD, operands[0]) if symbol == "*" else operands[0]
        return _plain(scalar, binary(symbol, first, operands[1]))
    if not scalar.is_signed or _stays_inside(body, op, symbol):
        return binary(symbol, *operands)
    unsigned = f"({unsigned_type(scalar)})"
    parts = [unary(unsigned, operand) for operand in operands]
    return _plain(scalar, binary(symbol, *parts))


def _stays_inside(body: Body, op: Op, symbol: str) -> bool:
    known = [body.bounds(operand) for operand in op.operands]
    if known[0] is None or known[1] is None:
        return False
    (low, high), (least, most) = known[0], known[1]
    reached = {
        "+": (low + least, high + most),
        "-": (low - most, high - least),
        "*": _products(low, high, least, most),
    }[symbol]
    scalar = scalar_type(op)
    return scalar.minimum <= reached[0] and reached[1] <= scalar.maximum


def _products(low: int, high: int, least: int, most: int) -> tuple[int, int]:
    products = (low * least, low * most, high * least, high * most)
    return min(products), max(products)


def _divide(kernel: OpenclKernel, scalar: Scalar, operands: Operands) -> Expression:
    if scalar is F64 or kernel.features.exact_division:
        return binary("/", *operands)
    return call(kernel.prelude.need("divide", F32), *operands)


def _square_root(kernel: OpenclKernel, scalar: Scalar, operands: Operands) -> Expression:
    if scalar is F64 or kernel.features.exact_division:
        return call("sqrt", *operands)
    return call(kernel.prelude.need("square_root", F32), *operands)


def _float_function(name: str) -> OnFloats:
    return lambda kernel, scalar, operands: call(name, *operands)


def _float_helper(name: str) -> OnFloats:
    return lambda kernel, scalar, operands: call(kernel.prelude.need(name, scalar), *operands)


def _floats(emit: OnFloats) -> Emit:
    return lambda kernel, body, op, operands: _through_f32(kernel, op, operands, emit)


def _by_kind(integer: Emit, floating: OnFloats) -> Emit:
    """One emission for integers, one for floats."""
    on_floats = _floats(floating)

    def emit(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
        kind = on_floats if scalar_type(op.operands[0]).is_float else integer
        return kind(kernel, body, op, operands)

    return emit


def _integer_helper(name: str) -> Emit:
    def emit(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
        return call(kernel.prelude.need(name, scalar_type(op.operands[0])), *operands)

    return emit


def _division(name: str) -> Emit:
    """A quotient or a rest; of numbers of 31 bits where the operands are known to be such."""
    general = _integer_helper(name)
    kind = "quotient" if name.endswith("div") else "rest"

    def emit(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
        shift = shift_of_floored(op)
        if shift is not None and kind == "quotient":
            return binary(">>", operands[0], primary(str(shift)))
        if shift is not None:
            return binary("&", operands[0], literal(scalar_type(op), (1 << shift) - 1))
        if NARROW not in op.attrs:
            return general(kernel, body, op, operands)
        doubles = "_by_doubles" if kernel.features.divides_by_doubles else ""
        function = kernel.prelude.need_other(kind + doubles)
        return _plain(scalar_type(op), call(function, *(_plain(I32, each) for each in operands)))

    return emit


def _integer_function(name: str) -> Emit:
    """A function that OpenCL C has for every integer type."""

    def emit(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
        scalar = scalar_type(op.operands[0])
        made = call(name, *(typed(scalar, operand) for operand in operands))
        return _plain(scalar, made) if name == "abs" and scalar.is_signed else made

    return emit


def _negate(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
    scalar = scalar_type(op)
    if is_half(scalar):
        return _plain(scalar, binary("^", operands[0], primary("0x8000")))
    if scalar.is_float:
        return unary("-", operands[0])
    word = _WORD if scalar.bits < 64 else U64
    return _plain(scalar, binary("-", primary("0"), _plain(word, operands[0])))


def _absolute(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
    scalar = scalar_type(op)
    if is_half(scalar):
        return _plain(scalar, binary("&", operands[0], primary("0x7fff")))
    if scalar.is_float:
        return call("fabs", *operands)
    return _integer_function("abs")(kernel, body, op, operands) if scalar.is_signed else operands[0]


def _copy_sign(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
    if not is_half(scalar_type(op)):
        return call("copysign", *operands)
    size = binary("&", operands[0], primary("0x7fff"))
    sign = binary("&", operands[1], primary("0x8000"))
    return _plain(scalar_type(op), binary("|", size, sign))


def _fused(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
    scalar = scalar_type(op)
    if not is_half(scalar):
        return call("fma", *operands)
    prelude = kernel.prelude
    wide = [cast(prelude, scalar, F64, operand) for operand in operands]
    return cast(prelude, F64, scalar, call(prelude.need_other("half_fma"), *wide))


def _power(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
    signed = scalar_type(op.operands[1]).is_signed
    name = kernel.prelude.need("power_signed" if signed else "power", scalar_type(op))
    return call(name, *operands)


VALUES["add"] = _arithmetic("+")
VALUES["sub"] = _arithmetic("-")
VALUES["mul"] = _arithmetic("*")
VALUES["div"] = _floats(_divide)
VALUES["neg"] = _negate
VALUES["abs"] = _absolute
VALUES["copysign"] = _copy_sign
VALUES["fma"] = _fused
VALUES["pow_integer"] = _power
VALUES["min"] = _by_kind(_integer_function("min"), _float_helper("min"))
VALUES["max"] = _by_kind(_integer_function("max"), _float_helper("max"))
VALUES["sign"] = _by_kind(_integer_helper("sign"), _float_helper("sign"))
VALUES["floor_div"] = _by_kind(_division("floor_div"), _float_helper("floor_div"))
VALUES["floor_mod"] = _by_kind(_division("floor_mod"), _float_helper("floor_mod"))
VALUES["trunc_div"] = _division("trunc_div")
VALUES["trunc_rem"] = _division("trunc_rem")
VALUES["mul_hi"] = _integer_function("mul_hi")
VALUES["saturating_add"] = _integer_function("add_sat")
VALUES["saturating_sub"] = _integer_function("sub_sat")
VALUES["fmin"] = _floats(_float_helper("fmin"))
VALUES["fmax"] = _floats(_float_helper("fmax"))
VALUES["sqrt"] = _floats(_square_root)
VALUES["fmod"] = _floats(_float_helper("fmod"))
for _name, _function in (("floor", "floor"), ("ceil", "ceil"),
                         ("trunc", "trunc"), ("round", "rint")):  # fmt: skip
    VALUES[_name] = _floats(_float_function(_function))

# ── bits ────────────────────────────────────────────────────────────────────────────────────────


def _bitwise(symbol: str) -> Emit:
    return lambda kernel, body, op, operands: binary(symbol, *operands)


def _complement(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
    scalar = scalar_type(op)
    if scalar is BOOL:
        return unary("!", operands[0])
    inverse = unary("~", operands[0])
    return _plain(scalar, inverse) if scalar.bits < 32 else inverse


def _shift(name: str, symbol: str) -> Emit:
    def emit(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
        scalar, counter = scalar_type(op), scalar_type(op.operands[1])
        count = op.operands[1].attrs.get("value")
        if isinstance(count, int) and 0 <= count < scalar.bits:
            value = operands[0]
            if symbol == "<<" and (scalar.is_signed or scalar.bits < 32):
                word = _WORD if scalar.bits < 64 else U64
                return _plain(scalar, binary(symbol, _plain(word, value), primary(str(count))))
            return binary(symbol, value, primary(str(count)))
        unsigned = unary(f"({unsigned_type(counter)})", operands[1])
        return call(kernel.prelude.need(name, scalar), operands[0], unsigned)

    return emit


def _rotate_right(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
    scalar = scalar_type(op)
    word = _WORD if scalar.bits < 64 else U64
    back = _plain(scalar, binary("-", primary("0"), _plain(word, operands[1])))
    return call("rotate", typed(scalar, operands[0]), back)


VALUES["bit_and"] = _bitwise("&")
VALUES["bit_or"] = _bitwise("|")
VALUES["bit_xor"] = _bitwise("^")
VALUES["bit_not"] = _complement
VALUES["shl"] = _shift("shl", "<<")
VALUES["shr"] = _shift("shr", ">>")
VALUES["popcount"] = _integer_function("popcount")
VALUES["clz"] = _integer_function("clz")
VALUES["ctz"] = _integer_helper("ctz")
VALUES["rotl"] = _integer_function("rotate")
VALUES["rotr"] = _rotate_right

# ── comparison, choice, conversion ──────────────────────────────────────────────────────────────


def _comparison(symbol: str) -> Emit:
    floating = _floats(lambda kernel, scalar, operands: binary(symbol, *operands))

    def emit(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
        if is_half(scalar_type(op.operands[0])):
            return floating(kernel, body, op, operands)
        return binary(symbol, *operands)

    return emit


def _select(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
    return choose(*operands)


def _cast(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
    return cast(kernel.prelude, scalar_type(op.operands[0]), scalar_type(op), operands[0])


def _bitcast(kernel: OpenclKernel, body: Body, op: Op, operands: Operands) -> Expression:
    return bitcast(scalar_type(op.operands[0]), scalar_type(op), operands[0])


for _name, _symbol in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"),
                       ("ge", ">=")):  # fmt: skip
    VALUES[_name] = _comparison(_symbol)
for _name in ("isnan", "isinf", "isfinite"):
    VALUES[_name] = _floats(_float_function(_name))
VALUES["select"] = _select
VALUES["cast"] = _cast
VALUES["bitcast"] = _bitcast
