"""Cases 1 to 35: integers and floats at their ends, where other kernel compilers went wrong.

Every operation over its whole table of operands is in `tests/conformance`; here each case stands by
its number with the values it was about.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import CubeTypeError, CubeValueError
from tests.cases.running import INTEGERS, SIGNED, UNSIGNED, everywhere, of_expression

INF, NAN = float("inf"), float("nan")


def wrapped(value: int, type: Any) -> int:
    info = np.iinfo(type)
    return (value - int(info.min)) % (1 << info.bits) + int(info.min)


# ── integers ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("type", SIGNED)
def test_case_01_floor_division_of_all_signs(type: Any) -> None:
    rows = [*itertools.product((7, -7, 8, -8, 1, -1, 0), (2, -2, 7, -7, 1, -1))]
    a, b = (list(column) for column in zip(*rows, strict=True))
    quotients = of_expression("a // b", a, b, type=type)
    rests = of_expression("a % b", a, b, type=type)
    assert quotients == [p // q for p, q in rows]
    assert rests == [p % q for p, q in rows]


def test_case_02_ceiling_division_of_negatives() -> None:
    assert of_expression("cb.cdiv(a, b)", [-36, 36, 35, -35], [5, 5, 5, 5], type=np.int32) == [
        -7, 8, 7, -7]  # fmt: skip

    @cb.cube
    def ceiling(a: cb.i32, b: cb.i32) -> cb.i32:
        return (a + b - 1) // b

    assert (ceiling(-36, 5), ceiling(36, 5)) == (-7, 8)


@pytest.mark.parametrize("type", INTEGERS)
def test_case_03_division_by_zero_is_zero_alone_and_together(type: Any) -> None:
    a = [0, 1, 7, int(np.iinfo(type).max), int(np.iinfo(type).min)]
    zeros = [0] * len(a)
    assert of_expression("a // b", a, zeros, type=type) == zeros
    assert of_expression("a % b", a, zeros, type=type) == zeros
    assert of_expression("(a // b) * 3 + a % b", a, zeros, type=type) == zeros


@pytest.mark.parametrize("type", SIGNED)
def test_case_04_least_integer_by_minus_one(type: Any) -> None:
    least = int(np.iinfo(type).min)
    assert of_expression("a // b", [least], [-1], type=type) == [least]
    assert of_expression("a % b", [least], [-1], type=type) == [0]
    assert of_expression("cb.trunc_div(a, b)", [least], [-1], type=type) == [least]
    assert of_expression("cb.trunc_rem(a, b)", [least], [-1], type=type) == [0]


def test_case_05_unsigned_division_extends_with_zeros() -> None:
    assert of_expression("a // 3", [0x80000000], type=np.uint32) == [0x80000000 // 3]
    assert of_expression("cb.index(a) // 3", [0x80000000], type=np.uint32, result=np.int64) == [
        0x80000000 // 3]  # fmt: skip


def test_case_06_float_floor_division_is_pythons() -> None:
    rows = [(-7.5, 2.0), (7.5, -INF), (-0.0, 3.0), (5.0, 0.1), (7.5, -2.0), (-7.5, INF), (1.0, 0.0),
            (-1.0, 0.0), (0.0, 0.0), (INF, 2.0), (NAN, 1.0), (1e300, 1e-300)]  # fmt: skip
    a, b = (list(column) for column in zip(*rows, strict=True))
    with np.errstate(all="ignore"):
        floors = np.floor_divide(a, b)
        rests = np.mod(a, b)
    np.testing.assert_array_equal(of_expression("a // b", a, b, type=np.float64), floors)
    np.testing.assert_array_equal(of_expression("a % b", a, b, type=np.float64), rests)


def test_case_07_fmod_and_remainder() -> None:
    assert of_expression("cb.fmod(a, b)", [-4.0], [10.0], type=np.float32) == [-4]
    assert of_expression("a % b", [-4.0], [10.0], type=np.float32) == [6]


def test_case_08_floor_division_does_not_overflow_on_the_way() -> None:
    top = int(np.iinfo(np.int32).max)
    assert of_expression("(a + b * 5) // b - 5", [top - 11], [2], type=np.int32) == [
        (top - 11 + 10) // 2 - 5]  # fmt: skip
    assert of_expression("a // b", [top], [3], type=np.int32) == [top // 3]


@pytest.mark.parametrize("type", SIGNED)
def test_case_09_remainder_by_powers_of_two(type: Any) -> None:
    a = [-9, -8, -1, 0, 1, 7, 8, int(np.iinfo(type).min), int(np.iinfo(type).max)]
    for power in (1, 2, 8, 64):
        assert of_expression(f"a % {power}", a, type=type) == [value % power for value in a]
        assert of_expression(f"a // {power}", a, type=type) == [value // power for value in a]


@pytest.mark.parametrize("type", INTEGERS)
def test_case_10_and_11_shifts_by_any_count(type: Any) -> None:
    info = np.iinfo(type)
    values = [int(info.max), 1, 5, int(info.min), -3 if info.min else 3]
    for count in (0, 1, info.bits - 1, info.bits, info.bits + 1, 127):
        if count > info.max:
            continue
        counts = [count] * len(values)
        assert of_expression("a << b", values, counts, type=type) == [
            wrapped(value << count, type) for value in values]  # fmt: skip
        assert of_expression("a >> b", values, counts, type=type) == [
            value >> count for value in values]  # fmt: skip
    if info.min:  # a negative count is a large one
        assert of_expression("a << b", [3], [-1], type=type) == [0]
        assert of_expression("a >> b", [3, -3], [-1, -1], type=type) == [0, -1]


def test_case_12_shift_keeps_the_left_type() -> None:
    def kernel(x, n, out):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        out[i] = x[i] << n[i]

    *_, out = everywhere(kernel, np.array([200], np.uint8), np.array([1], np.int32),
                         np.zeros(1, np.int64))  # fmt: skip
    assert out[0] == 400 % 256


def test_case_13_negative_lanes_stay_apart() -> None:
    @cb.cube
    def kernel(x, out):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        a = cb.vector(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3])
        for k in range(4):
            out[4 * i + k] = a[k] - 1

    for type in (np.int8, np.int32):
        x = np.array([-1, 5, -128, 127, 0, -7, 1, -2], type)
        for device in ("reference", "cpu"):
            out = np.zeros_like(x)
            kernel.over(2, device=device)(x, out)
            assert out.tolist() == [wrapped(int(value) - 1, type) for value in x]


@pytest.mark.parametrize("type", INTEGERS)
def test_case_14_absolute_value(type: Any) -> None:
    low, high = int(np.iinfo(type).min), int(np.iinfo(type).max)
    assert of_expression("abs(a)", [low, high, 0, 1], type=type) == [low, high, 0, 1]


def test_case_15_integers_compare_by_value() -> None:
    def kernel(u, i, v, l, out):  # type: ignore[no-untyped-def]  # noqa: E741
        out[0] = u[0] < i[0]
        out[1] = v[0] > l[0]
        out[2] = v[1] >= v[1] + 5000
        out[3] = cb.u32(1) < cb.i32(-1)

    *_, out = everywhere(
        kernel, np.array([1], np.uint32), np.array([-1], np.int32),
        np.array([2**63 + 1, 1_700_000_000_000_000_000], np.uint64),
        np.array([2**63 - 1], np.int64), np.zeros(4, np.bool_), shape=1,
    )  # fmt: skip
    assert out.tolist() == [False, True, False, False]


def test_case_16_wide_literals() -> None:
    with pytest.raises(CubeValueError, match="3000000000 does not fit i32"):
        of_expression("a + 3000000000", [1], type=np.int32)
    assert of_expression("a + 9223372036854775808", [1], type=np.uint64) == [2**63 + 1]

    @cb.cube
    def given(value: cb.u64, out: cb.Array[cb.u64]) -> None:
        out[0] = value

    for device in ("reference", "cpu"):
        out = np.zeros(1, np.uint64)
        given.over(1, device=device)(2**64 - 1, out)
        assert out[0] == 2**64 - 1


@pytest.mark.parametrize("type", UNSIGNED)
def test_case_17_unsigned_negation_and_extremes(type: Any) -> None:
    top = int(np.iinfo(type).max)
    assert of_expression("-a", [0, 1, top], type=type) == [0, top, 1]
    assert of_expression("min(a, b)", [1, top], [top, 2], type=type) == [1, 2]
    assert of_expression("max(a, b)", [1, top], [top, 2], type=type) == [top, top]

    def kernel(x, out):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        cb.atomic_min(out, 0, x[i])
        cb.atomic_max(out, 1, x[i])

    x = np.array([3, top, 1, top - 1], type)
    *_, out = everywhere(kernel, x, np.array([7, 7], type))
    assert out.tolist() == [1, top]


def test_case_18_comparisons_are_one_and_zero() -> None:
    assert of_expression("cb.i32(a < b)", [1, 2], [2, 1], type=np.int32) == [1, 0]
    assert of_expression("cb.i8(a == b)", [1, 2], [2, 2], type=np.float32, result=np.int8) == [0, 1]


def test_case_19_bools() -> None:
    def kernel(t, out):  # type: ignore[no-untyped-def]
        out[0] = ~t[0]
        out[1] = not t[1]
        out[2] = t[0] ^ t[1]
        out[3] = cb.u8(t[0]) + cb.u8(t[0]) == 2

    t = np.array([True, False])
    _, out = everywhere(kernel, t, np.zeros(4, np.bool_), shape=1)
    assert out.tolist() == [False, True, True, True]
    assert out.view(np.uint8).tolist() == [0, 1, 1, 1]
    with pytest.raises(CubeTypeError, match="cannot add bools"):
        of_expression("a + b", [True], [True], type=np.bool_)


@pytest.mark.parametrize("type", INTEGERS)
def test_case_20_folding_wraps_as_running_does(type: Any) -> None:
    top, low = int(np.iinfo(type).max), int(np.iinfo(type).min)
    rows = [*itertools.product((top, low, 1, top // 3), (top, low, 2))]
    a, b = (list(column) for column in zip(*rows, strict=True))
    for operation, python in (("+", int.__add__), ("-", int.__sub__), ("*", int.__mul__)):
        assert of_expression(f"a {operation} b", a, b, type=type) == [
            wrapped(python(p, q), type) for p, q in rows]  # fmt: skip


# ── floats ───────────────────────────────────────────────────────────────────────────────────────


def test_case_21_nan_wins_in_extremes() -> None:
    rows = [*itertools.product((NAN, 1.0, -2.0, INF, -INF), repeat=2)]
    a, b = (list(column) for column in zip(*rows, strict=True))
    low = of_expression("min(a, b)", a, b, type=np.float32)
    high = of_expression("max(a, b)", a, b, type=np.float32)
    np.testing.assert_array_equal(low, np.minimum(a, b))
    np.testing.assert_array_equal(high, np.maximum(a, b))
    clamped = of_expression("cb.clamp(a, -1.0, 1.0)", [NAN, 5.0, -5.0], type=np.float32)
    np.testing.assert_array_equal(clamped, [NAN, 1, -1])

    def atomic(x, out):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        cb.atomic_min(out, 0, x[i])
        cb.atomic_max(out, 1, x[i])
        out[2 + i] = cb.plane_min(x[i])

    for order in itertools.permutations((NAN, 1.0, -3.0)):
        x = np.array(order, np.float32)
        *_, out = everywhere(atomic, x, np.array([0] * 5, np.float32))
        assert np.isnan(out).all(), order


def test_case_22_extremes_of_signed_zeros() -> None:
    a, b = [-0.0, 0.0], [0.0, -0.0]
    low = of_expression("min(a, b)", a, b, type=np.float64)
    high = of_expression("max(a, b)", a, b, type=np.float64)
    assert [math.copysign(1, value) for value in low + high] == [-1, -1, 1, 1]


def test_case_23_negative_zero_is_kept() -> None:
    cases = {"-a": [0.0], "a * 1.0": [-0.0], "cb.copysign(a, -1.0)": [0.0], "round(a)": [-0.5],
             "a * -1.0": [0.0], "cb.trunc(a)": [-0.25]}  # fmt: skip
    for text, values in cases.items():
        (found,) = of_expression(text, values, type=np.float32)
        assert (found, math.copysign(1, found)) == (0, -1), text

    def both(x, out):  # type: ignore[no-untyped-def]
        out[0] = 0.0
        out[1] = -0.0
        out[2] = x[0] if x[0] > 0.0 else -0.0

    *_, out = everywhere(both, np.zeros(1, np.float32), np.ones(3, np.float32), shape=1)
    assert np.signbit(out).tolist() == [False, True, True]


def test_case_24_nothing_is_simplified_away_that_could_be_nan() -> None:
    wild = [NAN, INF, -INF, 1.0]
    for text in ("a * 0.0", "a - a", "a / a", "0.0 / a", "a + 0.0", "(a + b) - a"):
        with np.errstate(all="ignore"):
            values = {"a": np.array(wild), "b": np.array([1.0, INF, 2.0, NAN])}
            expected = eval(text, values)  # noqa: S307
        columns = (wild, values["b"].tolist()) if "b" in text else (wild,)
        np.testing.assert_array_equal(of_expression(text, *columns, type=np.float64), expected)


def test_case_25_nan_and_infinity_are_told() -> None:
    values = [NAN, INF, -INF, 0.0, 1.0]
    for text, expected in (
        ("cb.isnan(a)", np.isnan(values)), ("cb.isinf(a)", np.isinf(values)),
        ("cb.isfinite(a)", np.isfinite(values)), ("a != a", np.isnan(values)),
    ):  # fmt: skip
        found = of_expression(text, values, type=np.float32, result=np.bool_)
        assert found == expected.tolist()


def test_case_26_infinity_times_a_number() -> None:
    assert of_expression("float('inf') * a", [2.0, -3.0], type=np.float32) == [INF, -INF]


def test_case_27_float_to_integer_saturates() -> None:
    values = [NAN, INF, -INF, 3e9, -1.0, 300.7, -300.7, 1e30]
    for name, type in (("i8", np.int8), ("u8", np.uint8), ("i32", np.int32), ("u32", np.uint32),
                       ("i64", np.int64), ("u64", np.uint64)):  # fmt: skip
        low, high = int(np.iinfo(type).min), int(np.iinfo(type).max)
        found = of_expression(f"cb.{name}(a)", values, type=np.float64, result=type)
        expected = [0 if math.isnan(value) else high if value == INF else low if value == -INF
                    else min(max(int(value), low), high) for value in values]  # fmt: skip
        assert found == expected, name


def test_case_28_wide_integers_to_half() -> None:
    values = [65504, 65519, 65520, 2**32 - 1, 2049, 2051]
    found = of_expression("cb.f16(a)", values, type=np.uint64, result=np.float16)
    with np.errstate(over="ignore"):
        assert found == np.array(values, np.float64).astype(np.float16).astype(float).tolist()


def test_case_29_round_half_to_even() -> None:
    values = [0.5, 1.5, 2.5, -0.5, -1.5, 2**22 + 0.5, 8388609.0, 1e30]
    assert of_expression("round(a)", values, type=np.float32) == np.rint(
        np.array(values, np.float32)).tolist()  # fmt: skip


def test_case_30_division_rounds_once() -> None:
    assert of_expression("a / b", [4.6875, 1.0], [0.9375, 3.0], type=np.float32) == [
        5.0, float(np.float32(1) / np.float32(3))]  # fmt: skip


def test_case_31_denormals_are_kept() -> None:
    tiny = 2.0**-149
    assert of_expression("a * b", [tiny, 2.0**-100], [1.0, 2.0**-49], type=np.float32) == [
        tiny, tiny]  # fmt: skip
    assert of_expression("a / 2.0", [2.0**-148], type=np.float32) == [tiny]


def test_case_32_logarithm_of_an_integer() -> None:
    assert of_expression("cb.log(a)", [8], type=np.int16, result=np.float32) == pytest.approx(
        [math.log(8)], rel=1e-6)  # fmt: skip
    with pytest.raises(CubeTypeError, match=r"cb.log takes floats, not i32"):
        of_expression("cb.log(a)", [8], type=np.int32, result=np.float32)


def test_case_33_single_precision_stays_single() -> None:
    (found,) = of_expression("a * 0.1 + cb.sqrt(a) * 3 + 1e-3", [3.3], type=np.float32)
    one = np.float32
    a = one(3.3)
    assert found == float(one(one(a * one(0.1)) + one(np.sqrt(a) * one(3))) + one(1e-3))


def test_case_34_reductions_over_infinities_and_ties() -> None:
    def kernel(x, best, at):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        largest = -float("inf")
        where = -1
        for k in range(x.shape[1]):
            if x[i, k] > largest or where < 0:
                largest, where = x[i, k], cb.i32(k)
        best[i] = largest
        at[i] = where

    x = np.array([[-INF] * 4, [1, 3, 3, 2], [-1, -1, -1, -1]], np.float32)
    _, best, at = everywhere(kernel, x, np.zeros(3, np.float32), np.zeros(3, np.int32), shape=3)
    assert best.tolist() == x.max(axis=1).tolist()
    assert at.tolist() == x.argmax(axis=1).tolist()


def test_case_35_atomics_are_exact_and_give_the_old_value() -> None:
    def kernel(values, out, old):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        old[i] = cb.atomic_add(out, 1, values[i])

    for type in (np.float16, np.float32, np.float64, np.int64, np.uint8):
        values = np.ones(100, type)
        for device in ("reference", "cpu"):
            out, old = np.full(3, 7, type), np.zeros(100, type)
            cb.cube(kernel).over(100, device=device)(values, out, old)
            assert out.tolist() == [7, 107, 7]  # the neighbours are as they were
            assert sorted(old.tolist()) == list(range(7, 107))
