"""Every `evaluate` of the op table against Python integers and fractions, on hard operands."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cubepy.ir import BF16, BOOL, F16, F32, F64, INDEX, SCALARS, Scalar
from cubepy.ir import ops as table
from tests.unit.ir.exact_values import (
    FORMATS,
    SORTED_FLOATS,
    SORTED_INTEGERS,
    _floor_log2,
    array,
    floats_of,
    integers_of,
    pairs,
    rounded,
    run,
    same_bits,
    wrap,
)

# ── integers ──────────────────────────────────────────────────────────────────────────────────


def py_trunc_div(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY: dict[str, Callable[[int, int, Scalar], int]] = {
    "add": lambda a, b, t: a + b,
    "sub": lambda a, b, t: a - b,
    "mul": lambda a, b, t: a * b,
    "floor_div": lambda a, b, t: a // b if b else 0,
    "floor_mod": lambda a, b, t: a % b if b else 0,
    "trunc_div": lambda a, b, t: py_trunc_div(a, b),
    "trunc_rem": lambda a, b, t: a - b * py_trunc_div(a, b) if b else 0,
    "min": lambda a, b, t: min(a, b),
    "max": lambda a, b, t: max(a, b),
    "mul_hi": lambda a, b, t: (a * b) >> t.bits,
    "rotl": lambda a, b, t: (a % (1 << t.bits)) * ((1 << t.bits) + 1) << b % t.bits >> t.bits,
    "rotr": lambda a, b, t: (a % (1 << t.bits)) * ((1 << t.bits) + 1) >> b % t.bits,
    "saturating_add": lambda a, b, t: min(max(a + b, t.minimum), t.maximum),
    "saturating_sub": lambda a, b, t: min(max(a - b, t.minimum), t.maximum),
    "bit_and": lambda a, b, t: a & b,
    "bit_or": lambda a, b, t: a | b,
    "bit_xor": lambda a, b, t: a ^ b,
    "atomic_add": lambda a, b, t: a + b,
    "atomic_sub": lambda a, b, t: a - b,
    "atomic_min": lambda a, b, t: min(a, b),
    "atomic_max": lambda a, b, t: max(a, b),
    "atomic_and_": lambda a, b, t: a & b,
    "atomic_or_": lambda a, b, t: a | b,
    "atomic_xor": lambda a, b, t: a ^ b,
    "atomic_exchange": lambda a, b, t: b,
}
UNARY: dict[str, Callable[[int, Scalar], int]] = {
    "neg": lambda a, t: -a,
    "abs": lambda a, t: abs(a),
    "sign": lambda a, t: (a > 0) - (a < 0),
    "bit_not": lambda a, t: ~a,
    "popcount": lambda a, t: (a & ((1 << t.bits) - 1)).bit_count(),
    "clz": lambda a, t: t.bits - (a & ((1 << t.bits) - 1)).bit_length(),
    "find_first_set": lambda a, t: (a & -a).bit_length(),
    "bit_reverse": lambda a, t: int(f"{a % (1 << t.bits):0{t.bits}b}"[::-1], 2),
    "ctz": lambda a, t: next((bit for bit in range(t.bits) if a >> bit & 1), t.bits),
}
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


@pytest.mark.parametrize("type", SORTED_INTEGERS, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_integer_binary_op_is_pythons_with_wrap_around(name: str, type: Scalar) -> None:
    left, right = pairs(integers_of(type), integers_of(type))
    got = run(name, array(left, type), array(right, type), type=type)
    assert got.tolist() == [
        wrap(BINARY[name](a, b, type), type) for a, b in zip(left, right, strict=True)
    ]


@pytest.mark.parametrize("type", SORTED_INTEGERS, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_integer_unary_op_is_pythons_with_wrap_around(name: str, type: Scalar) -> None:
    values = integers_of(type)
    got = run(name, array(values, type), type=type)
    assert got.tolist() == [wrap(UNARY[name](value, type), type) for value in values]


@pytest.mark.parametrize("type", SORTED_INTEGERS, ids=str)
@pytest.mark.parametrize("name", COMPARE)
def test_integer_comparison_is_pythons(name: str, type: Scalar) -> None:
    left, right = pairs(integers_of(type), integers_of(type))
    got = run(name, array(left, type), array(right, type), type=BOOL)
    assert got.tolist() == [COMPARE[name](a, b) for a, b in zip(left, right, strict=True)]


@pytest.mark.parametrize("count_type", SORTED_INTEGERS, ids=str)
@pytest.mark.parametrize("type", SORTED_INTEGERS, ids=str)
def test_shift_counts_are_unsigned_and_saturate(type: Scalar, count_type: Scalar) -> None:
    width = type.bits
    counts = [c for c in (-1, -width, 0, 1, 7, width - 1, width, width + 1, 127, 255, 1 << 40) if
              count_type.minimum <= c <= count_type.maximum]  # fmt: skip
    left, right = pairs(integers_of(type), [*counts, count_type.minimum, count_type.maximum])
    operands = array(left, type), array(right, count_type)
    steps = [min(c % (1 << count_type.bits), width) for c in right]
    assert run("shl", *operands, type=type).tolist() == [
        wrap(a << c, type) for a, c in zip(left, steps, strict=True)
    ]
    assert run("shr", *operands, type=type).tolist() == [
        a >> c for a, c in zip(left, steps, strict=True)
    ]


def py_power(base: int, exponent: int, type: Scalar) -> int:
    if exponent >= 0:
        return wrap(pow(base, exponent, 1 << type.bits), type)
    return 1 if base == 1 else (-1) ** (exponent % 2) if base == -1 else 0


@pytest.mark.parametrize("exponent_type", SORTED_INTEGERS, ids=str)
@pytest.mark.parametrize("type", SORTED_INTEGERS, ids=str)
def test_integer_power_wraps_and_takes_negative_exponents(
    type: Scalar, exponent_type: Scalar
) -> None:
    left, right = pairs(integers_of(type), integers_of(exponent_type))
    got = run("pow_integer", array(left, type), array(right, exponent_type), type=type)
    assert got.tolist() == [py_power(a, b, type) for a, b in zip(left, right, strict=True)]


def test_bool_bits_are_logical() -> None:
    left, right = pairs([False, True], [False, True])
    operands = array(left, BOOL), array(right, BOOL)
    assert run("bit_and", *operands, type=BOOL).tolist() == [False, False, False, True]
    assert run("bit_or", *operands, type=BOOL).tolist() == [False, True, True, True]
    assert run("bit_xor", *operands, type=BOOL).tolist() == [False, True, True, False]
    assert run("bit_not", operands[0], type=BOOL).tolist() == [True, True, False, False]
    assert run("eq", *operands, type=BOOL).tolist() == [True, False, False, True]


# ── floats ────────────────────────────────────────────────────────────────────────────────────


def exact_binary(name: str, a: float, b: float, type: Scalar) -> float:
    """The IEEE result from rationals; doubles settle inf, NaN and the sign of zero."""
    with np.errstate(all="ignore"):
        special = float(
            {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[name](
                np.float64(a), np.float64(b)
            )
        )
    if not (math.isfinite(a) and math.isfinite(b)) or (name == "div" and b == 0):
        return special
    x, y = Fraction(a), Fraction(b)
    value = (
        x + y if name == "add" else x - y if name == "sub" else x * y if name == "mul" else x / y
    )
    # of an exact zero only the sign is left to settle, and doubles settle it as every format does
    return special if value == 0 else rounded(value, type)


@pytest.mark.parametrize("type", SORTED_FLOATS, ids=str)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_float_arithmetic_rounds_once(name: str, type: Scalar) -> None:
    left, right = pairs(floats_of(type), floats_of(type))
    got = run(name, array(left, type), array(right, type), type=type)
    same_bits(got, (exact_binary(name, a, b, type) for a, b in zip(left, right, strict=True)), type)


@pytest.mark.parametrize("type", [F16, BF16], ids=str)
@pytest.mark.parametrize("name", ["add", "mul", "div"])
def test_random_half_arithmetic_rounds_once(name: str, type: Scalar) -> None:
    random = np.random.default_rng(5)
    a, b = (random.integers(0, 1 << 16, 4000).astype(np.uint16).view(type.numpy) for _ in range(2))
    got = run(name, a, b, type=type)
    expected = [exact_binary(name, float(x), float(y), type) for x, y in zip(a, b, strict=True)]
    same_bits(got, expected, type)


@pytest.mark.parametrize("type", SORTED_FLOATS, ids=str)
def test_square_root_rounds_once(type: Scalar) -> None:
    random = np.random.default_rng(6)
    some = [abs(float(np.asarray(v).astype(type.numpy))) for v in random.normal(size=500) * 1e3]
    values = [*(v for v in floats_of(type) if v >= 0), *some]
    got = run("sqrt", array(values, type), type=type)
    for value, root in zip(values, got.astype(np.float64).tolist(), strict=True):
        if not math.isfinite(value) or value == 0:
            assert root == value
            continue
        # the root is right if the value lies between the squares of the neighbouring midpoints
        bits, lowest, _ = FORMATS[type.name]
        unit = Fraction(2) ** (max(_floor_log2(Fraction(root)), lowest) - bits + 1)
        below = (
            unit / 2 if Fraction(root) != Fraction(2) ** _floor_log2(Fraction(root)) else unit / 4
        )
        assert (Fraction(root) - below) ** 2 <= Fraction(value) <= (Fraction(root) + unit / 2) ** 2
    assert np.isnan(run("sqrt", array([-1.0, -math.inf], type), type=type).astype(np.float32)).all()
    assert np.signbit(run("sqrt", array([-0.0], type), type=type).astype(np.float32)).all()


def exact_fma(a: float, b: float, c: float, type: Scalar) -> float:
    if math.isnan(a) or math.isnan(b) or math.isnan(c):
        return math.nan
    if math.isinf(a) or math.isinf(b):
        return a * b + c
    if math.isinf(c):
        return c
    value = Fraction(a) * Fraction(b) + Fraction(c)
    if value != 0:
        return rounded(value, type)
    negative = math.copysign(1.0, a) * math.copysign(1.0, b) < 0 and math.copysign(1.0, c) < 0
    return -0.0 if negative and (a == 0 or b == 0) and c == 0 else 0.0


@pytest.mark.parametrize("type", SORTED_FLOATS, ids=str)
def test_fma_rounds_once_on_hard_operands(type: Scalar) -> None:
    values = floats_of(type)
    addends = [*values, *(-v * w for v in values[:12] for w in values[4:10])]
    with np.errstate(all="ignore"):
        some = [float(np.asarray(v).astype(type.numpy)) for v in addends[::3]]
    triples = list(itertools.product(values[::2], values[1::3], some))
    a, b, c = (array(column, type) for column in zip(*triples, strict=True))
    same_bits(run("fma", a, b, c, type=type), (exact_fma(*t, type) for t in triples), type)


@pytest.mark.parametrize("type", SORTED_FLOATS, ids=str)
def test_fma_rounds_once_near_ties(type: Scalar) -> None:
    """c close to -a*b, and a*b just beside the middle between two neighbours of c."""
    random = np.random.default_rng(7)
    bits = FORMATS[type.name][0]
    a = (1 + random.integers(0, 1 << (bits - 1), 3000) * 2.0 ** (1 - bits)).astype(type.numpy)
    b = (1 + random.integers(0, 1 << (bits - 1), 3000) * 2.0 ** (1 - bits)).astype(type.numpy)
    scale = 2.0 ** random.integers(-bits - 3, bits + 3, 3000)
    near = -(a.astype(np.float64) * b.astype(np.float64))
    c = np.where(random.random(3000) < 0.5, near, near * scale).astype(type.numpy)
    numbers = [x.astype(np.float64).tolist() for x in (a, b, c)]
    triples = zip(numbers[0], numbers[1], numbers[2], strict=True)
    same_bits(run("fma", a, b, c, type=type), (exact_fma(*t, type) for t in triples), type)


def test_fma_of_halves_is_not_f32_fma_rounded_again() -> None:
    """1 + 2**-11 is a tie of f16; the bit far below it decides, and f32 has lost that bit."""
    a, b = array([1 + 2**-10], F16), array([1.0], F16)
    far = array([2.0**-24], F16)
    got = run("fma", array([2.0**-5], F16), array([2.0**-6], F16), array([1.0], F16), type=F16)
    assert float(got[0]) == 1.0  # the tie itself goes to even
    wide = run("fma", a * a, b, far, type=F16)
    assert float(wide[0]) == rounded(Fraction(float((a * a)[0])) + Fraction(2) ** -24, F16)
    x, y, z = array([1 + 2**-7], BF16), array([2.0**-8], BF16), array([2.0**-40], BF16)
    assert float(run("fma", x, y, z, type=BF16)[0]) == rounded(
        (1 + Fraction(1, 128)) / 256 + Fraction(1, 2**40), BF16
    )


@pytest.mark.parametrize("type", SORTED_FLOATS, ids=str)
def test_float_floor_division_and_remainder_are_numpys(type: Scalar) -> None:
    left, right = pairs(
        [*floats_of(type), -7.5, 4.0, -4.0, 5.0], [*floats_of(type), 2.0, -2.0, 0.1]
    )
    a, b = array(left, type), array(right, type)
    compute = np.float32 if type is BF16 else type.numpy  # NumPy has no bfloat16 of its own
    with np.errstate(all="ignore"):
        quotient = np.floor_divide(a.astype(compute), b.astype(compute)).astype(type.numpy)
        remainder = np.remainder(a.astype(compute), b.astype(compute)).astype(type.numpy)
    same_bits(run("floor_div", a, b, type=type), quotient.astype(np.float64), type)
    same_bits(run("floor_mod", a, b, type=type), remainder.astype(np.float64), type)


@pytest.mark.parametrize("type", [F32, F64], ids=str)
def test_float_remainder_is_exact_fmod_moved_to_the_divisors_sign(type: Scalar) -> None:
    left, right = pairs(floats_of(type), floats_of(type))
    got = run("floor_mod", array(left, type), array(right, type), type=type)
    truncated = run("fmod", array(left, type), array(right, type), type=type)
    finite = [(i, a, b) for i, (a, b) in enumerate(zip(left, right, strict=True)) if
              math.isfinite(a) and math.isfinite(b) and b != 0]  # fmt: skip
    for place, a, b in finite:
        exact = abs(Fraction(a)) % abs(Fraction(b)) * (-1 if a < 0 else 1)
        assert Fraction(float(truncated[place])) == exact
        moved = exact + Fraction(b) if exact != 0 and (exact < 0) != (b < 0) else exact
        assert float(got[place]) == rounded(moved, type)
    assert np.signbit(run("fmod", array([-4.0], type), array([2.0], type), type=type))[0]


def py_min(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return min((a, math.copysign(1, a)), (b, math.copysign(1, b)))[0]


@pytest.mark.parametrize("type", SORTED_FLOATS, ids=str)
def test_minimum_and_maximum_follow_nan_and_order_zeros(type: Scalar) -> None:
    left, right = pairs(floats_of(type), floats_of(type))
    a, b = array(left, type), array(right, type)
    both = list(zip(left, right, strict=True))
    same_bits(run("min", a, b, type=type), (py_min(x, y) for x, y in both), type)
    same_bits(run("max", a, b, type=type), (-py_min(-x, -y) for x, y in both), type)
    same_bits(run("atomic_max", a, b, type=type), (-py_min(-x, -y) for x, y in both), type)

    def ignoring(pick: Callable[[float, float], float], x: float, y: float) -> float:
        return y if math.isnan(x) else x if math.isnan(y) else pick(x, y)

    same_bits(run("fmin", a, b, type=type), (ignoring(py_min, x, y) for x, y in both), type)
    flipped = (ignoring(lambda x, y: -py_min(-x, -y), x, y) for x, y in both)
    same_bits(run("fmax", a, b, type=type), flipped, type)


@pytest.mark.parametrize("type", SORTED_FLOATS, ids=str)
@pytest.mark.parametrize("name", COMPARE)
def test_float_comparison_is_ieee(name: str, type: Scalar) -> None:
    left, right = pairs(floats_of(type), floats_of(type))
    got = run(name, array(left, type), array(right, type), type=BOOL)
    assert got.tolist() == [COMPARE[name](a, b) for a, b in zip(left, right, strict=True)]


def py_round(value: float) -> float:
    return math.copysign(float(round(Fraction(value))), value)


FLOAT_UNARY: dict[str, Callable[[float], float]] = {
    "neg": lambda a: -a,
    "abs": abs,
    "sign": lambda a: a if a == 0 or math.isnan(a) else math.copysign(1.0, a),
    "floor": lambda a: math.copysign(float(math.floor(Fraction(a))), a) if math.isfinite(a) else a,
    "ceil": lambda a: math.copysign(float(math.ceil(Fraction(a))), a) if math.isfinite(a) else a,
    "trunc": lambda a: math.copysign(float(math.trunc(Fraction(a))), a) if math.isfinite(a) else a,
    "round": lambda a: py_round(a) if math.isfinite(a) else a,
}


@pytest.mark.parametrize("type", SORTED_FLOATS, ids=str)
@pytest.mark.parametrize("name", FLOAT_UNARY)
def test_exact_float_unary_op(name: str, type: Scalar) -> None:
    extra = [0.5, 1.5, 2.5, -0.5, -1.5, 0.25, -0.75, 1000.5, 2.0**10 + 0.5]
    values = [*floats_of(type), *(float(np.asarray(v).astype(type.numpy)) for v in extra)]
    same_bits(run(name, array(values, type), type=type), map(FLOAT_UNARY[name], values), type)


@pytest.mark.parametrize("type", SORTED_FLOATS, ids=str)
def test_frexp_is_pythons(type: Scalar) -> None:
    values = floats_of(type)
    parts = [math.frexp(value) if math.isfinite(value) else (value, 0) for value in values]
    got = run("frexp_mantissa", array(values, type), type=type)
    same_bits(got, [mantissa for mantissa, _ in parts], type)
    exponents = run("frexp_exponent", array(values, type), type=SCALARS["i32"])
    assert exponents.tolist() == [exponent for _, exponent in parts]


@pytest.mark.parametrize("type", SORTED_FLOATS, ids=str)
def test_ldexp_rounds_once(type: Scalar) -> None:
    bits, lowest, highest = FORMATS[type.name]
    exponents = [-(1 << 31), lowest - bits, lowest, -bits, -1, 0, 1, bits, highest, (1 << 31) - 1]
    left, right = pairs(floats_of(type), exponents)
    wanted = []
    for a, n in zip(left, right, strict=True):
        if math.isfinite(a):
            scaled = rounded(Fraction(a) * Fraction(2) ** max(min(n, 5000), -5000), type)
            wanted.append(math.copysign(scaled, a))
        else:
            wanted.append(a)
    got = run("ldexp", array(left, type), array(right, SCALARS["i32"]), type=type)
    same_bits(got, wanted, type)


@pytest.mark.parametrize("type", SORTED_FLOATS, ids=str)
def test_classification_and_copysign(type: Scalar) -> None:
    values = floats_of(type)
    assert run("isnan", array(values, type), type=BOOL).tolist() == list(map(math.isnan, values))
    assert run("isinf", array(values, type), type=BOOL).tolist() == list(map(math.isinf, values))
    assert run("isfinite", array(values, type), type=BOOL).tolist() == list(
        map(math.isfinite, values)
    )
    left, right = pairs(values, values)
    got = run("copysign", array(left, type), array(right, type), type=type)
    signs = np.signbit(np.array(right))
    assert (np.signbit(got.astype(np.float64)) == signs)[~np.isnan(np.array(right))].all()
    same_bits(run("abs", got, type=type), (abs(a) for a in left), type)


# ── shapes ────────────────────────────────────────────────────────────────────────────────────


NUMERIC_ROWS = [
    row.name
    for row in table.BY_NAME.values()
    if row.evaluate is not None and row.operands and not row.name.startswith("atomic")
]


@pytest.mark.parametrize("name", NUMERIC_ROWS)
def test_shapes_of_operands_do_not_matter(name: str) -> None:
    """0-d, broadcast, strided and empty operands give the values that plain arrays give."""
    row = table.BY_NAME[name]
    first = F64 if name in FLOAT_ONLY else SCALARS["i64"]
    values = np.array([3, -5, 0, 7, 1, 2], dtype=first.numpy)
    operands = [values, values[::-1].copy(), values * 2][: len(row.operands)]
    if name == "ldexp":
        operands[1] = operands[1].astype(np.int32)
    if name == "select":
        operands[0] = operands[0] > 0
    attrs: dict[str, Any] = {}
    kinds = {
        "cast": F32, "bitcast": SCALARS["u64"], **dict.fromkeys(COMPARE, BOOL),
        **dict.fromkeys(["isnan", "isinf", "isfinite"], BOOL), "frexp_exponent": SCALARS["i32"],
    }  # fmt: skip
    type = kinds.get(name, first)
    plain = run(name, *operands, type=type, **attrs)
    strided = [np.repeat(operand, 2)[::2] for operand in operands]
    backwards = [operand[::-1].copy()[::-1] for operand in operands]
    assert plain.shape == (6,)
    for variant in (strided, backwards):
        assert np.array_equal(run(name, *variant, type=type), plain, equal_nan=True)
    for place in range(6):
        single = run(name, *(np.asarray(operand[place]) for operand in operands), type=type)
        assert single.shape == ()
        assert np.array_equal(single, plain[place], equal_nan=True)
    mixed = run(name, *operands[:-1], np.asarray(operands[-1][0]), type=type)
    full = run(name, *operands[:-1], np.full(6, operands[-1][0]), type=type)
    assert np.array_equal(np.broadcast_to(mixed, full.shape), full, equal_nan=True)
    assert run(name, *(operand[:0] for operand in operands), type=type).shape == (0,)


FLOAT_ONLY = {"div", "fmod", "fmin", "fmax", "fma", "isnan", "isinf", "isfinite", "sqrt"}
FLOAT_ONLY |= {"floor", "ceil", "trunc", "round", "copysign"}
FLOAT_ONLY |= {"frexp_mantissa", "frexp_exponent", "ldexp"}


def test_every_evaluated_row_is_tested_here() -> None:
    tested = {
        *BINARY,
        *UNARY,
        *COMPARE,
        *FLOAT_UNARY,
        "shl",
        "shr",
        "pow_integer",
        "div",
        "fmod",
        "fma",
    }
    tested |= {"sqrt", "fmin", "fmax", "isnan", "isinf", "isfinite", "copysign", "cast", "bitcast"}
    tested |= {"const", "select", "frexp_mantissa", "frexp_exponent", "ldexp"}
    assert {row.name for row in table.BY_NAME.values() if row.evaluate is not None} <= tested


def test_index_is_i64() -> None:
    assert INDEX.numpy == np.int64
    assert ml_dtypes.bfloat16 == BF16.numpy
