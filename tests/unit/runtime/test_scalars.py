"""Scalar arguments against exact rationals and NumPy's conversions."""

import enum
import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cubepy.errors import ArgumentError
from cubepy.ir import BF16, BOOL, F16, F32, F64, I8, INTEGERS, U64, Scalar
from cubepy.runtime import convert_scalar


@given(st.integers(-(1 << 70), 1 << 70))
def test_integers_fit_or_are_refused(number: int) -> None:
    for type in INTEGERS:
        if type.minimum <= number <= type.maximum:
            assert convert_scalar(number, type, "k") == number
        else:
            with pytest.raises(ArgumentError, match=rf"does not fit {type}"):
                convert_scalar(number, type, "k")


def _neighbours(value: float, type: Scalar) -> tuple[Fraction, Fraction]:
    exact = np.array(value, type.numpy)
    up, down = (np.nextafter(exact, type.numpy.type(side)) for side in (math.inf, -math.inf))
    return Fraction(float(down)), Fraction(float(up))


@given(st.integers(-(1 << 90), 1 << 90) | st.integers(0, 1 << 10).map(lambda n: (1 << 85) + n))
def test_integers_are_rounded_to_floats_once(number: int) -> None:
    rounded = convert_scalar(number, F32, "k")
    distance = abs(Fraction(rounded) - number)
    assert all(distance <= abs(other - number) for other in _neighbours(float(rounded), F32))


def test_an_integer_between_two_floats_is_not_rounded_twice() -> None:
    # Half-way for f32 plus one: rounding to f64 first would make it a tie, and even the wrong one.
    assert convert_scalar((1 << 60) + (1 << 36) + 1, F32, "k") == float((1 << 60) + (1 << 37))


@given(st.floats(width=64))
def test_floats_round_as_numpy_does(number: float) -> None:
    assert np.array_equal(convert_scalar(number, F64, "k"), number, equal_nan=True)
    with np.errstate(over="ignore"):
        expected = float(np.float32(number))
    if math.isinf(expected) and not math.isinf(number):
        with pytest.raises(ArgumentError, match="too large for f32"):
            convert_scalar(number, F32, "k")
    else:
        assert np.array_equal(convert_scalar(number, F32, "k"), expected, equal_nan=True)


@given(st.floats(-60000, 60000))
def test_halves_are_rounded_once(number: float) -> None:
    for type in (F16, BF16):
        rounded = float(convert_scalar(number, type, "k"))
        distance = abs(Fraction(rounded) - Fraction(number))
        for side in (math.inf, -math.inf):
            if type is F16:
                other = float(np.nextafter(np.float16(rounded), np.float16(side)))
            else:
                step = np.nextafter(ml_dtypes.bfloat16(rounded), ml_dtypes.bfloat16(side))
                other = float(step)
            assert distance <= abs(Fraction(other) - Fraction(number))


class Colour(enum.IntEnum):
    RED = 7


@pytest.mark.parametrize(
    ("value", "type", "expected"),
    [
        (np.uint8(200), U64, 200),
        (np.int64(-3), I8, -3),
        (Colour.RED, I8, 7),
        (np.float32(0.1), F64, float(np.float32(0.1))),
        (np.float64(0.5), F16, 0.5),
        (ml_dtypes.bfloat16(1.5), F32, 1.5),
        (np.array(4), I8, 4),
        (3, F32, 3.0),
        (np.bool_(True), BOOL, True),
        (False, BOOL, False),
        (2**64 - 1, U64, 2**64 - 1),
        (-0.0, F32, -0.0),
    ],
)
def test_numbers_of_any_origin(value: Any, type: Scalar, expected: Any) -> None:
    converted = convert_scalar(value, type, "k")
    assert converted.__class__ is expected.__class__
    assert repr(converted) == repr(expected)


@pytest.mark.parametrize(
    ("value", "type", "message"),
    [
        (2.0, I8, "got the float 2.0"),
        (True, I8, "got True"),
        (1, BOOL, "expected bool, got 1"),
        (np.float32(2), I8, "got the float"),
        ("7", I8, "got str"),
        (None, F32, "got NoneType"),
        (np.zeros(3), F32, r"array of float64 with shape \(3,\)"),
        (1j, F32, "got complex"),
        (1 << 2000, F64, "too large for f64"),
        (300, I8, r"300 does not fit i8 \(-128 to 127\)"),
    ],
)
def test_what_does_not_fit_names_the_place(value: Any, type: Scalar, message: str) -> None:
    with pytest.raises(ArgumentError, match=f"k: argument 'a'.*{message}"):
        convert_scalar(value, type, "k: argument 'a'")
