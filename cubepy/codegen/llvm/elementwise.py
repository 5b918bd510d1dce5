"""What each pure op is in LLVM IR, for one scalar or one vector of lanes.

`ELEMENTWISE` maps op names to functions `(lane, op, operand names) -> result name`; its keys are
the ops the CPU target has natively. Nothing here traps or is undefined for any operand, whatever
lanes are masked off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cubepy.codegen.llvm import conversions, division
from cubepy.codegen.llvm.lanes import Lanes
from cubepy.ir import BF16, BOOL, F16, F32, Op, Scalar, scalar_type
from cubepy.records import dataclass

__all__ = ["ELEMENTWISE", "FAST"]

# Ops that fast-math flags apply to; tests such as isnan, conversions and divisions of integers or
# by steps keep their meaning in every mode.
FAST = frozenset(
    ["add", "sub", "mul", "div", "neg", "sqrt", "fma", "abs", "min", "max", "fmin", "fmax"]
) | {"lt", "le", "gt", "ge", "eq", "ne"}

Emit = Callable[[Lanes, Op, Sequence[str]], str]
ELEMENTWISE: dict[str, Emit] = {}


@dataclass(frozen=True, slots=True)
class _Through:
    """Runs a float emission for bf16 in f32 with one rounding back; other types as they are.

    `several_steps`: f16 too, for an emission of more than one rounding must not round in between.
    """

    emit: Callable[[Lanes, Scalar, Sequence[str]], str]
    several_steps: bool = False

    def __call__(self, lanes: Lanes, op: Op, args: Sequence[str]) -> str:
        scalar = scalar_type(op.operands[-1])
        if scalar is not BF16 and not (scalar is F16 and self.several_steps):
            return self.emit(lanes, scalar, args)
        wide = [conversions.cast(lanes, scalar, F32, arg) for arg in args]
        from_f32 = self.emit(lanes, F32, wide)
        return conversions.cast(lanes, F32, scalar, from_f32) if op.type is scalar else from_f32


def _row(*names: str) -> Callable[[Callable[[Lanes, Scalar, Sequence[str]], str]], None]:
    def add(emit: Callable[[Lanes, Scalar, Sequence[str]], str]) -> None:
        for name in names:
            ELEMENTWISE[name] = _Through(emit)

    return add


def _binary(name: str, integer: str, floating: str) -> None:
    def emit(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
        opcode = floating if scalar.is_float else integer
        return lanes.instruction(opcode, scalar, args[0], args[1])

    ELEMENTWISE[name] = _Through(emit)


_binary("add", "add", "fadd")
_binary("sub", "sub", "fsub")
_binary("mul", "mul", "fmul")
_binary("div", "", "fdiv")
_binary("bit_and", "and", "")
_binary("bit_or", "or", "")
_binary("bit_xor", "xor", "")


@_row("neg")
def _neg(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
    if scalar.is_float:
        return lanes.negate(scalar, args[0])
    return lanes.instruction("sub", scalar, lanes.const(scalar, 0), args[0])


@_row("bit_not")
def _bit_not(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
    ones = lanes.const(scalar, True) if scalar is BOOL else lanes.const(scalar, -1)
    return lanes.instruction("xor", scalar, args[0], ones)


@_row("abs")
def _abs(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
    if scalar.is_float:
        return lanes.call("fabs", scalar, args[0])
    if not scalar.is_signed:
        return args[0]
    return lanes.call("abs", scalar, args[0], extra=", i1 false")


@_row("sign")
def _sign(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
    zero = lanes.const(scalar, 0)
    if scalar.is_float:
        unit = lanes.call("copysign", scalar, lanes.const(scalar, 1), args[0])
        ordinary = lanes.compare("fcmp one", scalar, args[0], zero)
        return lanes.select(ordinary, scalar, unit, args[0])
    positive = lanes.compare("icmp sgt" if scalar.is_signed else "icmp ne", scalar, args[0], zero)
    up = lanes.select(positive, scalar, lanes.const(scalar, 1), zero)
    if not scalar.is_signed:
        return up
    negative = lanes.compare("icmp slt", scalar, args[0], zero)
    return lanes.select(negative, scalar, lanes.const(scalar, -1), up)


def _extreme(name: str, floating: str, integer: str) -> None:
    @_row(name)
    def emit(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
        if scalar.is_float:
            return lanes.call(floating, scalar, *args)
        return lanes.call(("s" if scalar.is_signed else "u") + integer, scalar, *args)


_extreme("min", "minimum", "min")
_extreme("max", "maximum", "max")
_extreme("fmin", "minimumnum", "")
_extreme("fmax", "maximumnum", "")


@_row("sqrt")
def _sqrt(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
    return lanes.call("sqrt", scalar, args[0])


def _intrinsic(name: str, intrinsic: str) -> None:
    @_row(name)
    def emit(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
        return lanes.call(intrinsic, scalar, *args)


_intrinsic("floor", "floor")
_intrinsic("ceil", "ceil")
_intrinsic("trunc", "trunc")
_intrinsic("round", "roundeven")
_intrinsic("copysign", "copysign")
_intrinsic("popcount", "ctpop")
_intrinsic("bit_reverse", "bitreverse")


def _count_zeros(name: str, intrinsic: str) -> None:
    @_row(name)
    def emit(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
        return lanes.call(intrinsic, scalar, args[0], extra=", i1 false")


_count_zeros("clz", "ctlz")
_count_zeros("ctz", "cttz")


@_row("find_first_set")
def _find_first_set(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
    zeros = lanes.call("cttz", scalar, args[0], extra=", i1 false")
    place = lanes.instruction("add", scalar, zeros, lanes.const(scalar, 1))
    zero = lanes.const(scalar, 0)
    return lanes.select(lanes.compare("icmp eq", scalar, args[0], zero), scalar, zero, place)


def _rotation(name: str, intrinsic: str) -> None:
    @_row(name)
    def emit(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
        return lanes.call(intrinsic, scalar, args[0], args[0], args[1])


_rotation("rotl", "fshl")
_rotation("rotr", "fshr")


def _saturating(name: str, operation: str) -> None:
    @_row(name)
    def emit(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
        sign = "s" if scalar.is_signed else "u"
        return lanes.call(f"{sign}{operation}.sat", scalar, *args)


_saturating("saturating_add", "add")
_saturating("saturating_sub", "sub")


def _fma(lanes: Lanes, op: Op, args: Sequence[str]) -> str:
    scalar = scalar_type(op)
    if scalar not in (F16, BF16):
        return lanes.call("fma", scalar, *args)
    return conversions.half_fma(lanes, scalar, args)


ELEMENTWISE["fma"] = _fma


@_row("mul_hi")
def _mul_hi(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
    wide, extend = lanes.integer(2 * scalar.bits), "sext" if scalar.is_signed else "zext"
    a, b = (lanes.w.value(f"{extend} {lanes.type(scalar)} {arg} to {wide}") for arg in args)
    product = lanes.w.value(f"mul {wide} {a}, {b}")
    upper = lanes.w.value(f"lshr {wide} {product}, {lanes.int_const(2 * scalar.bits, scalar.bits)}")
    return lanes.w.value(f"trunc {wide} {upper} to {lanes.type(scalar)}")


_ORDER = {"lt": ("lt", "olt"), "le": ("le", "ole"), "gt": ("gt", "ogt"), "ge": ("ge", "oge")}


def _comparison(name: str) -> None:
    @_row(name)
    def emit(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
        if name in ("eq", "ne"):
            predicate = (
                f"icmp {name}"
                if not scalar.is_float
                else {"eq": "fcmp oeq", "ne": "fcmp une"}[name]
            )
        elif scalar.is_float:
            predicate = f"fcmp {_ORDER[name][1]}"
        else:
            predicate = f"icmp {'s' if scalar.is_signed else 'u'}{_ORDER[name][0]}"
        return lanes.compare(predicate, scalar, args[0], args[1])


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _comparison(_name)


@_row("isnan")
def _isnan(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
    return lanes.compare("fcmp uno", scalar, args[0], args[0])


@_row("isinf")
def _isinf(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
    return lanes.compare(
        "fcmp oeq", scalar, lanes.call("fabs", scalar, args[0]), lanes.infinity(scalar)
    )


@_row("isfinite")
def _isfinite(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
    return lanes.compare(
        "fcmp olt", scalar, lanes.call("fabs", scalar, args[0]), lanes.infinity(scalar)
    )


def _select(lanes: Lanes, op: Op, args: Sequence[str]) -> str:
    return lanes.select(args[0], scalar_type(op), args[1], args[2])


def _shift(name: str) -> Emit:
    def emit(lanes: Lanes, op: Op, args: Sequence[str]) -> str:
        scalar, counter = scalar_type(op), scalar_type(op.operands[1])
        opcode = "shl" if name == "shl" else ("ashr" if scalar.is_signed else "lshr")
        count, large = _shift_count(lanes, op, scalar, counter, args[1])
        if large == "":
            return lanes.instruction(opcode, scalar, args[0], count)
        if opcode == "ashr":  # a count of width - 1 gives the sign everywhere
            count = lanes.select(large, scalar, lanes.const(scalar, scalar.bits - 1), count)
            return lanes.instruction(opcode, scalar, args[0], count)
        count = lanes.select(large, scalar, lanes.const(scalar, 0), count)
        shifted = lanes.instruction(opcode, scalar, args[0], count)
        return lanes.select(large, scalar, lanes.const(scalar, 0), shifted)

    return emit


def _shift_count(
    lanes: Lanes, op: Op, scalar: Scalar, counter: Scalar, count: str
) -> tuple[str, str]:
    """The count in the value's type, and the mask of counts at or above its width ("" for none)."""
    constant = op.operands[1]
    number = constant.attrs.get("value")
    if isinstance(number, int):
        steps = number % (1 << counter.bits)
        if steps < scalar.bits:
            return lanes.const(scalar, steps), ""
    large = ""
    if counter.bits >= 8:
        large = lanes.compare(
            "icmp uge", counter, count, lanes.const(counter, min(scalar.bits, 127))
        )
    same = conversions.resize(lanes, counter, scalar, count, signed=False)
    return same, large


ELEMENTWISE["select"] = _select
ELEMENTWISE["shl"] = _shift("shl")
ELEMENTWISE["shr"] = _shift("shr")


def _cast(lanes: Lanes, op: Op, args: Sequence[str]) -> str:
    return conversions.cast(lanes, scalar_type(op.operands[0]), scalar_type(op), args[0])


def _bitcast(lanes: Lanes, op: Op, args: Sequence[str]) -> str:
    return lanes.bitcast(scalar_type(op.operands[0]), scalar_type(op), args[0])


ELEMENTWISE["cast"] = _cast
ELEMENTWISE["bitcast"] = _bitcast


def _division(name: str) -> None:
    def emit(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
        if scalar.is_float:
            return division.FLOAT[name](lanes, scalar, args[0], args[1])
        return division.INTEGER[name](lanes, scalar, args[0], args[1])

    ELEMENTWISE[name] = _Through(emit, several_steps=True)


for _name in ("floor_div", "floor_mod", "trunc_div", "trunc_rem", "fmod"):
    _division(_name)


def _pow_integer(lanes: Lanes, op: Op, args: Sequence[str]) -> str:
    return division.power(lanes, scalar_type(op), scalar_type(op.operands[1]), args[0], args[1])


ELEMENTWISE["pow_integer"] = _pow_integer
