"""Integer division without traps, Python's float `//` and `%`, integer powers.

Vector integer division goes through floats where the quotient is exact there (LLVM has only scalar
division): 8- and 16-bit through f32, 32-bit through f64. The distance of a quotient that is not an
integer from the next integer is at least 1/b, more than the rounding error of the division, so
truncation gives the right integer. Vectors of 64 bits, which take a division a lane, are functions
of their own: one copy a module, however often a kernel divides.
"""

from __future__ import annotations

from collections.abc import Callable

from cubepy.codegen.llvm.lanes import Lanes
from cubepy.codegen.llvm.writer import Writer
from cubepy.ir import F32, F64, Scalar
from cubepy.records import replace

__all__ = ["FLOAT", "INTEGER", "power"]


def _quotient(lanes: Lanes, scalar: Scalar, a: str, b: str) -> str:
    """A / b toward zero for b other than 0 and not INT_MIN / -1."""
    signed = "s" if scalar.is_signed else "u"
    if not lanes.lanes or scalar.bits == 64 or b.startswith("splat"):
        return lanes.instruction(f"{signed}div", scalar, a, b)
    wide = F64 if scalar.bits == 32 else F32
    x, y = (lanes.convert(f"{signed}itofp", scalar, wide, value) for value in (a, b))
    ratio = lanes.instruction("fdiv", wide, x, y)
    return lanes.w.value(f"fpto{signed}i {lanes.type(wide)} {ratio} to {lanes.type(scalar)}")


def _safe_divisor(lanes: Lanes, scalar: Scalar, a: str, b: str) -> tuple[str, str]:
    """A divisor that cannot trap, and the mask of zero divisors. INT_MIN / -1 becomes INT_MIN /
    1.
    """
    one = lanes.const(scalar, 1)
    zero = lanes.compare("icmp eq", scalar, b, lanes.const(scalar, 0))
    safe = lanes.select(zero, scalar, one, b)
    if scalar.is_signed:
        lowest = lanes.compare("icmp eq", scalar, a, lanes.const(scalar, scalar.minimum))
        minus = lanes.compare("icmp eq", scalar, b, lanes.const(scalar, -1))
        safe = lanes.select(lanes.both(lowest, minus), scalar, one, safe)
    return safe, zero


def _constant_divisor(b: str, scalar: Scalar) -> bool:
    """Whether the divisor is a constant that needs no guard."""
    text = b.rpartition(" ")[2].rstrip(")")
    return text.lstrip("-").isdigit() and int(text) not in (0, -1, (1 << scalar.bits) - 1)


def trunc_div(lanes: Lanes, scalar: Scalar, a: str, b: str) -> str:
    """C's quotient; by 0 is 0."""
    if _constant_divisor(b, scalar):
        return _quotient(lanes, scalar, a, b)
    safe, zero = _safe_divisor(lanes, scalar, a, b)
    return lanes.select(zero, scalar, lanes.const(scalar, 0), _quotient(lanes, scalar, a, safe))


def trunc_rem(lanes: Lanes, scalar: Scalar, a: str, b: str) -> str:
    """C's remainder; by 0 is 0."""
    product = lanes.instruction("mul", scalar, trunc_div(lanes, scalar, a, b), b)
    remainder = lanes.instruction("sub", scalar, a, product)
    if _constant_divisor(b, scalar):
        return remainder
    zero = lanes.compare("icmp eq", scalar, b, lanes.const(scalar, 0))
    return lanes.select(zero, scalar, lanes.const(scalar, 0), remainder)


def _adjusts(lanes: Lanes, scalar: Scalar, remainder: str, b: str) -> str:
    """Where floor and truncation differ: a remainder other than 0 whose sign is not the
    divisor's.
    """
    zero = lanes.const(scalar, 0)
    some = lanes.compare("icmp ne", scalar, remainder, zero)
    signs = lanes.instruction("xor", scalar, remainder, b)
    return lanes.both(some, lanes.compare("icmp slt", scalar, signs, zero))


def _power_of_two(b: str) -> int | None:
    """The exponent of a constant divisor that is a power of two."""
    text = b.rpartition(" ")[2].rstrip(")")
    number = int(text) if text.isdigit() else 0
    return number.bit_length() - 1 if number > 0 and number & (number - 1) == 0 else None


def floor_div(lanes: Lanes, scalar: Scalar, a: str, b: str) -> str:
    """Python's quotient; by 0 is 0."""
    exponent = _power_of_two(b)
    if exponent is not None and exponent < scalar.bits - scalar.is_signed:
        opcode = "ashr" if scalar.is_signed else "lshr"
        return lanes.instruction(opcode, scalar, a, lanes.const(scalar, exponent))
    quotient = trunc_div(lanes, scalar, a, b)
    if not scalar.is_signed:
        return quotient
    product = lanes.instruction("mul", scalar, quotient, b)
    adjusts = _adjusts(lanes, scalar, lanes.instruction("sub", scalar, a, product), b)
    lower = lanes.instruction("sub", scalar, quotient, lanes.const(scalar, 1))
    floored = lanes.select(adjusts, scalar, lower, quotient)
    if _constant_divisor(b, scalar):
        return floored
    zero = lanes.compare("icmp eq", scalar, b, lanes.const(scalar, 0))
    return lanes.select(zero, scalar, lanes.const(scalar, 0), floored)


def floor_mod(lanes: Lanes, scalar: Scalar, a: str, b: str) -> str:
    """Python's remainder; by 0 is 0."""
    exponent = _power_of_two(b)
    if exponent is not None and exponent < scalar.bits - scalar.is_signed:
        return lanes.instruction("and", scalar, a, lanes.const(scalar, (1 << exponent) - 1))
    remainder = trunc_rem(lanes, scalar, a, b)
    if not scalar.is_signed:
        return remainder
    moved = lanes.instruction("add", scalar, remainder, b)
    return lanes.select(_adjusts(lanes, scalar, remainder, b), scalar, moved, remainder)


Division = Callable[[Lanes, Scalar, str, str], str]


def _once(name: str, divide: Division) -> Division:
    """The same, where it is a division a lane as a function of the module."""

    def divided(lanes: Lanes, scalar: Scalar, a: str, b: str) -> str:
        if not lanes.lanes or scalar.bits < 64 or b.startswith("splat"):
            return divide(lanes, scalar, a, b)
        sign, type = "s" if scalar.is_signed else "u", lanes.type(scalar)
        function = f"@cubepy.{sign}{name}.{lanes.suffix(scalar)}"
        if function not in lanes.declared:
            inside = replace(lanes, w=Writer())
            inside.w.line(f"ret {type} {divide(inside, scalar, '%a', '%b')}")
            body = "\n".join(line for line, _ in inside.w.flatten())
            head = f"define internal {type} {function}({type} %a, {type} %b) noinline #0"
            lanes.declared[function] = f"{head} {{\n{body}\n}}"
        return lanes.w.value(f"call {type} {function}({type} {a}, {type} {b})")

    return divided


INTEGER: dict[str, Division] = {
    divide.__name__: _once(divide.__name__, divide)
    for divide in (trunc_div, trunc_rem, floor_div, floor_mod)
}


def fmod(lanes: Lanes, scalar: Scalar, a: str, b: str) -> str:
    """C's fmod."""
    return lanes.instruction("frem", scalar, a, b)


def _python_remainder(lanes: Lanes, scalar: Scalar, a: str, b: str) -> tuple[str, str, str]:
    """fmod, Python's remainder, and the mask of where the two differ by one divisor."""
    zero = lanes.const(scalar, 0.0)
    remainder = fmod(lanes, scalar, a, b)
    some = lanes.compare("fcmp une", scalar, remainder, zero)
    negative_b = lanes.compare("fcmp olt", scalar, b, zero)
    negative_r = lanes.compare("fcmp olt", scalar, remainder, zero)
    differ = lanes.w.value(f"xor {lanes.mask} {negative_b}, {negative_r}")
    adjusts = lanes.both(some, differ)
    moved = lanes.select(
        adjusts, scalar, lanes.instruction("fadd", scalar, remainder, b), remainder
    )
    signed_zero = lanes.call("copysign", scalar, zero, b)
    return remainder, lanes.select(some, scalar, moved, signed_zero), adjusts


def float_mod(lanes: Lanes, scalar: Scalar, a: str, b: str) -> str:
    """NumPy's remainder."""
    return _python_remainder(lanes, scalar, a, b)[1]


def float_floor_div(lanes: Lanes, scalar: Scalar, a: str, b: str) -> str:
    """NumPy's floor_divide, step by step as its npy_divmod."""
    zero, one = lanes.const(scalar, 0.0), lanes.const(scalar, 1.0)
    remainder, _, adjusts = _python_remainder(lanes, scalar, a, b)
    plain = lanes.instruction("fdiv", scalar, a, b)
    difference = lanes.instruction("fsub", scalar, a, remainder)
    quotient = lanes.instruction("fdiv", scalar, difference, b)
    lower = lanes.instruction("fsub", scalar, quotient, one)
    quotient = lanes.select(adjusts, scalar, lower, quotient)
    floored = lanes.call("floor", scalar, quotient)
    gap = lanes.instruction("fsub", scalar, quotient, floored)
    up = lanes.compare("fcmp ogt", scalar, gap, lanes.const(scalar, 0.5))
    snapped = lanes.select(up, scalar, lanes.instruction("fadd", scalar, floored, one), floored)
    some = lanes.compare("fcmp une", scalar, quotient, zero)
    result = lanes.select(some, scalar, snapped, lanes.call("copysign", scalar, zero, plain))
    by_zero = lanes.compare("fcmp oeq", scalar, b, zero)
    return lanes.select(by_zero, scalar, plain, result)


FLOAT: dict[str, Callable[[Lanes, Scalar, str, str], str]] = {
    "fmod": fmod,
    "floor_mod": float_mod,
    "floor_div": float_floor_div,
}


def power(lanes: Lanes, scalar: Scalar, counter: Scalar, base: str, exponent: str) -> str:
    """Square and multiply until no lane has bits of its exponent left; then the rule for negative
    exponents.
    """
    w, one = lanes.w, lanes.const(scalar, 1)
    left = exponent
    if counter.is_signed:
        left = lanes.call("smax", counter, exponent, lanes.const(counter, 0))
    head, more, done = (w.fresh(hint + ".") for hint in ("power", "more", "powered"))
    before = w.label
    w.jump(head)
    w.begin(head)
    phi = w.hook()
    result, factor, rest = ("%" + w.fresh("p") for _ in range(3))
    w.branch(_any_left(lanes, counter, rest), more, done)
    w.begin(more)
    bit = lanes.instruction("and", counter, rest, lanes.const(counter, 1))
    odd = lanes.compare("icmp ne", counter, bit, lanes.const(counter, 0))
    product = lanes.instruction("mul", scalar, result, factor)
    next_result = lanes.select(odd, scalar, product, result)
    next_factor = lanes.instruction("mul", scalar, factor, factor)
    next_rest = lanes.instruction("lshr", counter, rest, lanes.const(counter, 1))
    w.jump(head)
    with w.at(phi):
        for name, type, first, again in (
            (result, lanes.type(scalar), one, next_result),
            (factor, lanes.type(scalar), base, next_factor),
            (rest, lanes.type(counter), left, next_rest),
        ):
            w.line(f"{name} = phi {type} [ {first}, %{before} ], [ {again}, %{more} ]")
    w.begin(done)
    if not counter.is_signed:
        return result
    return _with_negative_exponents(lanes, scalar, counter, base, exponent, result)


def _any_left(lanes: Lanes, counter: Scalar, rest: str) -> str:
    left = lanes.compare("icmp ne", counter, rest, lanes.const(counter, 0))
    if not lanes.lanes:
        return left
    bits = lanes.w.value(f"bitcast {lanes.mask} {left} to i{lanes.lanes}")
    return lanes.w.value(f"icmp ne i{lanes.lanes} {bits}, 0")


def _with_negative_exponents(
    lanes: Lanes, scalar: Scalar, counter: Scalar, base: str, exponent: str, result: str
) -> str:
    """0, except for bases 1 and -1."""
    one, zero = lanes.const(scalar, 1), lanes.const(scalar, 0)
    is_one = lanes.compare("icmp eq", scalar, base, one)
    inverse = lanes.select(is_one, scalar, one, zero)
    if scalar.is_signed:
        bit = lanes.instruction("and", counter, exponent, lanes.const(counter, 1))
        odd = lanes.compare("icmp ne", counter, bit, lanes.const(counter, 0))
        minus = lanes.const(scalar, -1)
        is_minus = lanes.compare("icmp eq", scalar, base, minus)
        inverse = lanes.select(is_minus, scalar, lanes.select(odd, scalar, minus, one), inverse)
    negative = lanes.compare("icmp slt", counter, exponent, lanes.const(counter, 0))
    return lanes.select(negative, scalar, inverse, result)
