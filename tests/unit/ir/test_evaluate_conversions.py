"""Conversions of the op table against Python integers and fractions, on hard operands."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from cubepy.ir import BF16, BOOL, F16, F32, SCALARS, Scalar
from tests.unit.ir.exact_values import (
    FORMATS,
    SORTED_FLOATS,
    SORTED_INTEGERS,
    array,
    floats_of,
    integers_of,
    rounded,
    run,
    same_bits,
    wrap,
)


@pytest.mark.parametrize("target", SORTED_INTEGERS, ids=str)
@pytest.mark.parametrize("source", SORTED_INTEGERS, ids=str)
def test_integer_to_integer_wraps(source: Scalar, target: Scalar) -> None:
    values = integers_of(source)
    got = run("cast", array(values, source), type=target)
    assert got.tolist() == [wrap(v, target) for v in values]


@pytest.mark.parametrize("target", SORTED_INTEGERS, ids=str)
@pytest.mark.parametrize("source", SORTED_FLOATS, ids=str)
def test_float_to_integer_truncates_and_saturates(source: Scalar, target: Scalar) -> None:
    ends = [
        float(target.minimum),
        float(target.maximum),
        300.7,
        3e9,
        -0.9,
        -1.0,
        -1.5,
        0.99,
        2.0**63,
        2.0**64,
    ]
    around = [np.nextafter(e, s) for e in ends for s in (math.inf, -math.inf)]
    with np.errstate(all="ignore"):
        chosen = np.array([*ends, *around, *floats_of(source)]).astype(source.numpy)
    expected = [
        0
        if math.isnan(v)
        else target.maximum
        if v == math.inf
        else target.minimum
        if v == -math.inf
        else max(target.minimum, min(target.maximum, math.trunc(Fraction(v))))
        for v in chosen.astype(np.float64).tolist()
    ]
    assert run("cast", chosen, type=target).tolist() == expected


@pytest.mark.parametrize("target", SORTED_FLOATS, ids=str)
@pytest.mark.parametrize("source", SORTED_INTEGERS, ids=str)
def test_integer_to_float_rounds_once(source: Scalar, target: Scalar) -> None:
    bits = FORMATS[target.name][0]
    hard = []
    for top in range(bits, source.bits):
        tie = (1 << top) + (1 << (top - bits))  # halfway between two neighbours of 2**top
        hard += [tie - 1, tie, tie + 1, tie + (1 << (top - bits + 1)), -tie, -tie - 1, 1 - tie]
    values = [v for v in (*integers_of(source), *hard) if source.minimum <= v <= source.maximum]
    got = run("cast", array(values, source), type=target)
    same_bits(got, (rounded(Fraction(v), target) for v in values), target)


@pytest.mark.parametrize("target", SORTED_FLOATS, ids=str)
@pytest.mark.parametrize("source", SORTED_FLOATS, ids=str)
def test_float_to_float_rounds_once(source: Scalar, target: Scalar) -> None:
    bits, lowest, highest = FORMATS[target.name]
    eps = 2.0 ** (1 - bits)
    ties = [
        scale * (1 + eps / 2 * (1 + 2 * k)) for k in (0, 1) for scale in (1.0, 2.0**lowest, 0.25)
    ]
    ties += [2.0 ** (lowest - bits), 3 * 2.0 ** (lowest - bits), (2 - eps / 2) * 2.0**highest]
    with np.errstate(all="ignore"):
        beside = [v * (1 + k * 2.0**-52) for v in ties for k in (-1, 0, 1)]
        far = [v * (1 + k * 2.0**-30) for v in ties for k in (-1, 1)]
        values = np.array([*beside, *far, *floats_of(source)])
        exact = np.concatenate([values, -values]).astype(source.numpy)
    got = run("cast", exact, type=target)
    numbers = exact.astype(np.float64).tolist()
    expected = (
        v if not math.isfinite(v) or v == 0 else rounded(Fraction(v), target) for v in numbers
    )
    same_bits(got, expected, target)


@pytest.mark.parametrize("type", sorted(SCALARS.values(), key=str), ids=str)
def test_bool_and_numbers(type: Scalar) -> None:
    assert run("cast", array([False, True], BOOL), type=type).astype(np.float64).tolist() == [
        0.0,
        1.0,
    ]
    values = np.array([0, 1, 2]).astype(type.numpy)
    assert run("cast", values, type=BOOL).tolist() == [False, True, True]
    if type.is_float:
        specials = array([-0.0, math.nan, math.inf, 2.0 ** FORMATS[type.name][1]], type)
        assert run("cast", specials, type=BOOL).tolist() == [False, True, True, True]


def test_bitcast_keeps_bits() -> None:
    bits = np.array([0x7FC00001, 0xFF800000, 0x80000000, 1], dtype=np.uint32)
    floats = run("bitcast", bits, type=F32)
    assert run("bitcast", floats, type=SCALARS["u32"]).tolist() == bits.tolist()
    strided = np.arange(12, dtype=np.int16)[::3]
    assert run("bitcast", strided, type=F16).view(np.int16).tolist() == strided.tolist()


def test_float_constants_are_rounded_once() -> None:
    tie = 1 + 2.0**-8 + 2.0**-40  # above the middle of two bf16, but f32 cannot see it
    got = run("const", type=BF16, value=tie)
    assert float(got) == 1 + 2.0**-7
    assert got.shape == ()
    assert run("const", type=SCALARS["u64"], value=(1 << 64) - 1).item() == (1 << 64) - 1
    assert np.signbit(run("const", type=F32, value=-0.0))
