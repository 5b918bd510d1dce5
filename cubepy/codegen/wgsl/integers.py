"""Integer ops in WGSL: on single words where the values fit, on pairs of words elsewhere.

`WORDS` and `PAIRS` map the names of ops to what they are on words and on pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from cubepy.codegen.structured import (
    Body,
    Expression,
    binary,
    call,
    primary,
    shift_of_floored,
    unary,
)
from cubepy.codegen.wgsl.conversions import helper, invoked, low_word, moved, wrapped
from cubepy.codegen.wgsl.narrow import MODULAR
from cubepy.codegen.wgsl.types import Machine, is_wide, literal
from cubepy.ir import Op, Scalar, scalar_type
from cubepy.target import Topic

if TYPE_CHECKING:
    from cubepy.codegen.wgsl.kernel import WgslKernel

__all__ = ["INTEGERS", "integer_op"]

Operands = Sequence[Expression]
# `on`: what the operands are in registers.
Emit = Callable[["WgslKernel", Body, Op, Machine, Operands], Expression]
_MODULAR = frozenset(row.name for row in MODULAR)
#: Ops that give the same on words as on pairs, for operands and results that fit both.
_ON_WORDS = _MODULAR | {
    "floor_div", "floor_mod", "trunc_div", "trunc_rem", "abs", "sign", "min", "max", "shr",
    "eq", "ne", "lt", "le", "gt", "ge",
}  # fmt: skip
_SECOND_APART = frozenset({"shl", "shr", "pow_integer"})  # its type is another


def integer_op(kernel: WgslKernel, body: Body, op: Op, operands: Operands) -> Expression:
    """An op whose first operand is an integer."""
    name = op.opdef.name
    scalar = scalar_type(op.operands[0])
    wanted = kernel.machine(op)
    on = _chosen(kernel, op, scalar)
    own = op.operands[:1] if name in _SECOND_APART else op.operands
    given = [
        moved(kernel.prelude, kernel.machine(each), on, value)
        for each, value in zip(own, operands, strict=False)
    ]
    given += operands[len(own) :]
    if on is Machine.PAIR:
        kernel.notes.add(Topic.VALUE, op, "64 bits as a pair of words: not shown to fit one")
    elif is_wide(scalar):
        kernel.notes.add(Topic.VALUE, op, "64 bits in one word, which is shown to do")
    table = PAIRS if on is Machine.PAIR else WORDS
    made = table[name](kernel, body, op, on, given)
    if wanted is Machine.BOOL:
        return made
    made = made if on is Machine.PAIR else wrapped(scalar, made) if _may_leave(name) else made
    return moved(kernel.prelude, on, wanted, made)


def _chosen(kernel: WgslKernel, op: Op, scalar: Scalar) -> Machine:
    """What to compute with."""
    if not is_wide(scalar):
        return kernel.machine(op.operands[0])
    name = op.opdef.name
    own = op.operands[:1] if name in _SECOND_APART else op.operands
    result = kernel.machine(op)
    if name in _MODULAR and result is Machine.I32:
        return Machine.I32
    narrow = all(kernel.machine(each) is Machine.I32 for each in own)
    fits = narrow and result in (Machine.I32, Machine.BOOL)
    return Machine.I32 if fits and name in _ON_WORDS else Machine.PAIR


def _may_leave(name: str) -> bool:
    """Whether a result on words may be outside of a narrower type."""
    return name not in {"floor_mod", "trunc_rem", "sign", "min", "max", "bit_and", "bit_or",
                        "bit_xor", "shr", "popcount", "clz", "ctz", "mul_hi"}  # fmt: skip


# ── on words ────────────────────────────────────────────────────────────────────────────────────


def _symbol(symbol: str) -> Emit:
    return lambda kernel, body, op, on, given: binary(symbol, *given)


def _function(name: str) -> Emit:
    return lambda kernel, body, op, on, given: invoked(name, *given)


def _helper(name: str) -> Emit:
    """A function of the library; `{}` in its name is the kind of word."""
    return lambda kernel, body, op, on, given: helper(kernel.prelude, name.format(on.value), *given)


def _divided(symbol: str, signed: str, unsigned: str) -> Emit:
    """A quotient or rest: the language's own where nothing can go wrong."""

    def emit(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
        shift = shift_of_floored(op)
        if shift is not None and symbol == "/":
            return binary(">>", given[0], primary(f"{shift}u"))
        if shift is not None:
            return binary("&", given[0], literal(scalar_type(op), (1 << shift) - 1, on))
        above, below = (body.bounds(operand) for operand in op.operands)
        positive = below is not None and below[0] > 0
        if positive and (on is Machine.U32 or (above is not None and above[0] >= 0)):
            return binary(symbol, *given)
        return helper(kernel.prelude, signed if on is Machine.I32 else unsigned, *given)

    return emit


def _negated(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
    if on is Machine.I32:
        return unary("-", given[0])
    return binary("-", primary("0u"), given[0])


def _absolute(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
    return call("abs", given[0]) if on is Machine.I32 else given[0]


def _sign(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
    if on is Machine.I32:
        return invoked("sign", given[0])
    return invoked("min", given[0], primary("1u"))


def _high(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
    bits = scalar_type(op).bits
    if bits < 32:
        return binary(">>", binary("*", *given), primary(f"{bits}u"))
    return helper(kernel.prelude, f"cb_mul_hi_{on.value}", *given)


def _bits_of(op: Op, on: Machine, value: Expression) -> Expression:
    """The bits of a word as a u32, zeros above those of the type."""
    scalar = scalar_type(op.operands[0])
    word = low_word(on, Machine.U32, value)
    if scalar.bits == 32 or on is Machine.U32:
        return word
    return binary("&", word, primary(f"{(1 << scalar.bits) - 1}u"))


def _counted(text: str) -> Emit:
    """A count of bits: an expression of `{}`, the bits, and `{0}`, the width."""

    def emit(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
        width = scalar_type(op.operands[0]).bits
        bits = _bits_of(op, on, given[0])
        count = primary(text.format(bits=bits, width=width, above=32 - width), bits)
        count = call("min", count, primary(f"{width}u")) if text.startswith("countT") else count
        if "clz" in op.opdef.name and width < 32:
            count = binary("-", count, primary(f"{32 - width}u"))
        return moved(kernel.prelude, Machine.U32, on, count)

    return emit


def shift_count(kernel: WgslKernel, op: Op, value: Expression) -> Expression:
    """A shift count as a u32; negative and large ones are large."""
    machine = kernel.machine(op)
    if machine is Machine.PAIR:
        return helper(kernel.prelude, "cb_count", value)
    return moved(kernel.prelude, machine, Machine.U32, value)


def _shifted(symbol: str, name: str) -> Emit:
    def emit(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
        known = op.operands[1].attrs.get("value")
        if isinstance(known, int) and 0 <= known < min(32, scalar_type(op).bits):
            return binary(symbol, given[0], primary(f"{known}u"))
        count = shift_count(kernel, op.operands[1], given[1])
        return helper(kernel.prelude, f"cb_{name}_{on.value}", given[0], count)

    return emit


def _exponent(kernel: WgslKernel, op: Op, value: Expression) -> Expression:
    return moved(kernel.prelude, kernel.machine(op), Machine.PAIR, value)


def _power(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
    exponent = _exponent(kernel, op.operands[1], given[1])
    names = {Machine.I32: "cb_power_i32", Machine.U32: "cb_power_of_u32"}
    name = names[on] if scalar_type(op.operands[1]).is_signed else "cb_power_u32"
    if name == "cb_power_u32" and on is Machine.I32:
        base = low_word(Machine.I32, Machine.U32, given[0])
        return call("i32", helper(kernel.prelude, name, base, exponent))
    return helper(kernel.prelude, name, given[0], exponent)


WORDS: Mapping[str, Emit] = {
    "add": _symbol("+"),
    "sub": _symbol("-"),
    "mul": _symbol("*"),
    "floor_div": _divided("/", "cb_floor_div_i32", "cb_div_u32"),
    "floor_mod": _divided("%", "cb_floor_mod_i32", "cb_mod_u32"),
    "trunc_div": _divided("/", "cb_trunc_div_i32", "cb_div_u32"),
    "trunc_rem": _divided("%", "cb_trunc_rem_i32", "cb_mod_u32"),
    "pow_integer": _power,
    "neg": _negated,
    "abs": _absolute,
    "sign": _sign,
    "min": _function("min"),
    "max": _function("max"),
    "mul_hi": _high,
    "bit_and": _symbol("&"),
    "bit_or": _symbol("|"),
    "bit_xor": _symbol("^"),
    "bit_not": lambda kernel, body, op, on, given: unary("~", given[0]),
    "shl": _shifted("<<", "shl"),
    "shr": _shifted(">>", "shr"),
    "popcount": _counted("countOneBits({bits})"),
    "clz": _counted("countLeadingZeros({bits})"),
    "ctz": _counted("countTrailingZeros({bits})"),
    "eq": _symbol("=="),
    "ne": _symbol("!="),
    "lt": _symbol("<"),
    "le": _symbol("<="),
    "gt": _symbol(">"),
    "ge": _symbol(">="),
}

# ── on pairs ────────────────────────────────────────────────────────────────────────────────────


def _kind(op: Op) -> str:
    return "i64" if scalar_type(op.operands[0]).is_signed else "u64"


def _by_sign(name: str, unsigned: str = "") -> Emit:
    """A function for signed pairs, and one for unsigned ones."""

    def emit(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
        chosen = unsigned if unsigned and _kind(op) == "u64" else f"{name}_{_kind(op)}"
        return helper(kernel.prelude, chosen, *given)

    return emit


def _ordered(*, swapped: bool, negated: bool) -> Emit:
    def emit(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
        first, second = reversed(given) if swapped else given
        less = helper(kernel.prelude, f"cb_less_{_kind(op)}", first, second)
        return unary("!", less) if negated else less

    return emit


def _same(name: str, symbol: str) -> Emit:
    return lambda kernel, body, op, on, given: call(name, binary(symbol, *given))


def _pair_shift(name: str) -> Emit:
    def emit(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
        count = shift_count(kernel, op.operands[1], given[1])
        return helper(kernel.prelude, name.format(_kind(op)), given[0], count)

    return emit


def _pair_absolute(
    kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands
) -> Expression:
    return helper(kernel.prelude, "cb_abs_64", given[0]) if _kind(op) == "i64" else given[0]


def _pair_power(kernel: WgslKernel, body: Body, op: Op, on: Machine, given: Operands) -> Expression:
    exponent = _exponent(kernel, op.operands[1], given[1])
    signed = scalar_type(op.operands[1]).is_signed
    names = {"i64": "cb_power_i64", "u64": "cb_power_of_u64"}
    name = names[_kind(op)] if signed else "cb_power_64"
    return helper(kernel.prelude, name, given[0], exponent)


PAIRS: Mapping[str, Emit] = {
    "add": _helper("cb_add_64"),
    "sub": _helper("cb_sub_64"),
    "mul": _helper("cb_mul_64"),
    "floor_div": _by_sign("cb_floor_div", "cb_div_u64"),
    "floor_mod": _by_sign("cb_floor_mod", "cb_mod_u64"),
    "trunc_div": _by_sign("cb_trunc_div", "cb_div_u64"),
    "trunc_rem": _by_sign("cb_trunc_rem", "cb_mod_u64"),
    "pow_integer": _pair_power,
    "neg": _helper("cb_neg_64"),
    "abs": _pair_absolute,
    "sign": _by_sign("cb_sign"),
    "min": _by_sign("cb_min"),
    "max": _by_sign("cb_max"),
    "mul_hi": _by_sign("cb_mul_hi"),
    "bit_and": _symbol("&"),
    "bit_or": _symbol("|"),
    "bit_xor": _symbol("^"),
    "bit_not": lambda kernel, body, op, on, given: unary("~", given[0]),
    "shl": _pair_shift("cb_shl_64"),
    "shr": _pair_shift("cb_shr_{}"),
    "popcount": _helper("cb_popcount_64"),
    "clz": _helper("cb_clz_64"),
    "ctz": _helper("cb_ctz_64"),
    "eq": _same("all", "=="),
    "ne": _same("any", "!="),
    "lt": _ordered(swapped=False, negated=False),
    "le": _ordered(swapped=True, negated=True),
    "gt": _ordered(swapped=True, negated=False),
    "ge": _ordered(swapped=False, negated=True),
}
INTEGERS = frozenset(WORDS)
