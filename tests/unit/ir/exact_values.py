"""Rows of the op table on arrays, and exact results to hold them to: rationals rounded once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from cubepy.ir import FLOATS, INTEGERS, NO_ATTRS, Scalar
from cubepy.ir import ops as table

Array = Any
SORTED_INTEGERS = sorted(INTEGERS, key=str)
SORTED_FLOATS = sorted(FLOATS, key=str)
# significand bits with the hidden one, exponent of the smallest normal number, largest exponent
FORMATS = {
    "f16": (11, -14, 15),
    "bf16": (8, -126, 127),
    "f32": (24, -126, 127),
    "f64": (53, -1022, 1023),
}


def run(name: str, *operands: Array, type: Scalar, **attrs: Any) -> Array:
    evaluate = table.BY_NAME[name].evaluate
    assert evaluate is not None
    with np.errstate(all="ignore"):
        result = evaluate(*operands, type=type, attrs=attrs or NO_ATTRS)
    assert isinstance(result, np.ndarray)
    assert result.dtype == type.numpy
    return result


def pairs(left: Iterable[Any], right: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    both = list(itertools.product(left, right))
    return [a for a, _ in both], [b for _, b in both]


def array(values: Iterable[Any], type: Scalar) -> Array:
    return np.array(list(values), dtype=type.numpy)


def integers_of(type: Scalar) -> list[int]:
    ends = {type.minimum, type.minimum + 1, type.maximum, type.maximum - 1, type.maximum // 2}
    near = {-9, -8, -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 8, 10, 100, 1 << (type.bits // 2)}
    bits = {0x5555555555555555 & type.maximum, (1 << (type.bits - 2)) - 1, type.minimum // 2}
    return sorted(v for v in ends | near | bits if type.minimum <= v <= type.maximum)


def wrap(value: int, type: Scalar) -> int:
    low = value & ((1 << type.bits) - 1)
    return low - (1 << type.bits) if type.is_signed and low >> (type.bits - 1) else low


def floats_of(type: Scalar) -> list[float]:
    """Values of the type itself: ends, denormals, ties, neighbours of one, specials."""
    bits, lowest, highest = FORMATS[type.name]
    eps = 2.0 ** (1 - bits)
    largest = (2 - eps) * 2.0**highest
    tiny, normal = 2.0 ** (lowest - bits + 1), 2.0**lowest
    finite = [
        0.0,
        tiny,
        3 * tiny,
        normal - tiny,
        normal,
        normal * 1.5,
        0.1,
        0.5,
        1 - eps / 2,
        1.0,
        1 + eps,
    ]
    finite += [
        1.5,
        2.5,
        3.0,
        7.5,
        1 / 3,
        10.0,
        255.0,
        largest / 2,
        largest,
        2.0 ** (bits - 1) - 0.5,
    ]
    exact = [float(np.asarray(v).astype(type.numpy)) for v in finite]
    both = [s * v for v in exact for s in (1.0, -1.0)]
    return [*both, math.inf, -math.inf, math.nan]


def rounded(value: Fraction, type: Scalar) -> float:
    """The nearest number of the type, ties to even: the definition of IEEE 754 on rationals."""
    bits, lowest, highest = FORMATS[type.name]
    if value == 0:
        return 0.0
    magnitude = abs(value)
    exponent = max(_floor_log2(magnitude), lowest)
    unit = Fraction(2) ** (exponent - bits + 1)
    count = round(magnitude / unit)  # Python rounds a Fraction half to even
    nearest = count * unit
    result = math.inf if nearest >= Fraction(2) ** (highest + 1) else float(nearest)
    return -result if value < 0 else result


def _floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def same_bits(got: Array, expected: Iterable[float], type: Scalar) -> None:
    """Equal values, zeros of equal sign, NaN for NaN."""
    wide = got.astype(np.float64)
    want = np.array(list(expected), dtype=np.float64)
    equal = (wide == want) & (np.signbit(wide) == np.signbit(want)) | (
        np.isnan(wide) & np.isnan(want)
    )
    wrong = np.flatnonzero(~equal)
    assert not wrong.size, (
        f"{wrong.size} wrong, first at {wrong[0]}: {wide[wrong[0]]!r}, not {want[wrong[0]]!r}"
    )
