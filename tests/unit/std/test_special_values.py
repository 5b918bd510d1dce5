"""Zeros, infinities, NaN and exact results, as C99 Annex F has them, in every float type."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import Array
from cubepy.ir import ops
from cubepy.std import SPECIAL_VALUES, SPECIAL_VALUES_OF_TWO
from tests.unit.std import measure, numpy_kernels

INF, NAN = math.inf, math.nan
DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64}
#: Functions that equal their argument where it is tiny.
NEAR_IDENTITY = (
    "expm1", "log1p", "sin", "tan", "tanh", "asin", "atan", "sinh", "asinh", "atanh",
)  # fmt: skip


def same_bits_or_nan(got: Any, wanted: Any) -> bool:
    """Equal values, equal signs of zero, NaN in the same places."""
    both_nan = np.isnan(got) & np.isnan(wanted)
    return bool(np.all(both_nan | ((got == wanted) & (np.signbit(got) == np.signbit(wanted)))))


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("name", sorted(SPECIAL_VALUES))
def test_special_values(name: str, type: str) -> None:
    x, wanted = np.array([*SPECIAL_VALUES[name], (NAN, NAN)], DTYPES[type]).T
    got = numpy_kernels.function(name, type)(x.copy())
    assert same_bits_or_nan(got, wanted), dict(zip(x, got, strict=True))


F = TypeVar("F", bound=cb.Float)
EVERY = DTYPES | {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
FUNCTIONS = {name: getattr(cb, name) for name in SPECIAL_VALUES}
OF_TWO = {
    **{name: getattr(cb, name) for name in SPECIAL_VALUES_OF_TWO},
    "ldexp": lambda a, b: cb.ldexp(a, cb.i32(b)),
}


@cb.cube
def apply(function: cb.Comptime[Any], x: Array[F], y: Array[F], out: Array[F]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = function(x[i], y[i])


def of_first(function: Any) -> Any:
    return lambda a, _: function(a)


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("type", EVERY)
def test_special_values_on_every_device(type: str, device: str) -> None:
    """The tables of the documentation, function by function."""
    wrong = []
    for name, function in FUNCTIONS.items():
        rows = [(x, 0.0, result) for x, result in (*SPECIAL_VALUES[name], (NAN, NAN))]
        wrong += mistakes(name, of_first(function), rows, EVERY[type], device)
    for name, function in OF_TWO.items():
        wrong += mistakes(name, function, SPECIAL_VALUES_OF_TWO[name], EVERY[type], device)
    assert not wrong


def mistakes(name: str, function: Any, rows: Any, dtype: Any, device: str) -> list[str]:
    """The rows of a table that a device gives something else for."""
    columns = [np.array(column).astype(dtype) for column in zip(*rows, strict=True)]
    x, y, wanted = columns
    out = np.zeros_like(x)
    apply.over(x.size, device=device)(function, x, y, out)
    return [
        f"{name}({x[at]}, {y[at]}) = {out[at]}, not {wanted[at]}"
        for at in range(x.size)
        if not same_bits_or_nan(out[at : at + 1], wanted[at : at + 1])
    ]


def test_the_tables_name_every_function_with_an_error() -> None:
    named = {*SPECIAL_VALUES, *SPECIAL_VALUES_OF_TWO}
    assert {row.name for row in ops.BY_NAME.values() if row.ulp} <= named


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("name", sorted(SPECIAL_VALUES))
def test_nan_with_any_payload_stays_nan(name: str, type: str) -> None:
    bits = np.array([0x7FC00000, 0x7F800001, 0xFFFFFFFF, 0x7FD55555, 0xFF800001], np.uint32)
    x = bits.view(np.float32)
    if type == "f64":
        wide = np.array(
            [0x7FF8 << 48, (0x7FF0 << 48) | 1, 2**64 - 1, 0x7FF5555555555555], np.uint64
        )
        x = wide.view(np.float64)
    assert np.isnan(numpy_kernels.function(name, type)(x)).all()


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("name", NEAR_IDENTITY)
def test_tiny_arguments_are_kept(name: str, type: str) -> None:
    info = np.finfo(DTYPES[type])
    sizes = np.array(
        [info.smallest_subnormal, 7 * info.smallest_subnormal, info.tiny, 3 * info.tiny, 1e-20],
        DTYPES[type],
    )
    x = np.concatenate([sizes, -sizes])
    assert same_bits_or_nan(numpy_kernels.function(name, type)(x), x)


@pytest.mark.parametrize("type", DTYPES)
def test_powers_of_two_are_exact(type: str) -> None:
    info = np.finfo(DTYPES[type])
    exponents = np.arange(info.minexp - info.nmant, info.maxexp, dtype=DTYPES[type])
    powers = np.ldexp(DTYPES[type](1), exponents.astype(np.int32))
    assert np.array_equal(numpy_kernels.function("exp2", type)(exponents), powers)
    assert np.array_equal(numpy_kernels.function("log2", type)(powers), exponents)
    twos = np.full_like(exponents, 2)
    assert np.array_equal(numpy_kernels.function("pow", type)(twos, exponents), powers)


@pytest.mark.parametrize("type", DTYPES)
def test_log10_of_powers_of_ten_is_exact(type: str) -> None:
    exponents = np.arange(11 if type == "f32" else 23)
    powers = np.array([10.0 ** int(n) for n in exponents], DTYPES[type])
    assert np.array_equal(numpy_kernels.function("log10", type)(powers), exponents)


@pytest.mark.parametrize("name", ["exp", "exp2", "erfc"])
def test_results_below_the_normal_range_are_denormal(name: str) -> None:
    """f32 results down to the smallest denormal, each within one of them."""
    low, high = {"exp": (-103.9, -87.4), "exp2": (-149.9, -126.1), "erfc": (9.2, 10.05)}[name]
    x = np.linspace(low, high, 50_001).astype(np.float32)
    got = numpy_kernels.function(name, "f32")(x)
    exact = measure.REFERENCES[name](x.astype(np.float64))
    assert np.count_nonzero((got > 0) & (got < np.finfo(np.float32).tiny)) > 40_000
    assert np.all(np.abs(got - exact) <= 2.0**-149)


POW_VALUES = (
    0.0, 1.0, 0.5, 2.0, 3.0, 4.0, 1.5, 7.0, 1e30, 1e-30, 1e-40, 16777215.0, 16777216.0, 5e-324, INF,
)  # fmt: skip


@pytest.mark.parametrize("type", DTYPES)
def test_pow_of_special_values(type: str) -> None:
    """Against Python's math.pow; exact wherever the result is 0, 1, infinite or NaN."""
    values = [*POW_VALUES, *(-value for value in POW_VALUES), NAN]
    base = np.array([b for b in values for _ in values], DTYPES[type])
    exponent = np.array([e for _ in values for e in values], DTYPES[type])
    got = numpy_kernels.function("pow", type)(base, exponent)
    exact = [c_pow(float(b), float(e)) for b, e in zip(base, exponent, strict=True)]
    with np.errstate(over="ignore"):
        wanted = np.array(exact).astype(DTYPES[type])
    special = ~np.isfinite(wanted) | np.isin(np.abs(wanted), (0.0, 1.0))
    assert same_bits_or_nan(got[special], wanted[special])
    assert np.allclose(got[~special], wanted[~special], rtol=4 * np.finfo(DTYPES[type]).eps, atol=0)
    assert np.array_equal(np.signbit(got[~special]), np.signbit(wanted[~special]))


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("name", ["atan2", "hypot"])
def test_two_coordinates_of_special_values(name: str, type: str) -> None:
    """Against Python's own functions, whose results here are exact or quarters of a turn."""
    values = [0.0, 1.0, 1e-40, INF, *(-value for value in (0.0, 1.0, 1e-40, INF)), NAN]
    first = np.array([a for a in values for _ in values], DTYPES[type])
    second = np.array([b for _ in values for b in values], DTYPES[type])
    got = numpy_kernels.function(name, type)(first, second)
    pairs = zip(first, second, strict=True)
    wanted = [getattr(math, name)(float(a), float(b)) for a, b in pairs]
    assert same_bits_or_nan(got, np.array(wanted, DTYPES[type])), type


@pytest.mark.parametrize("type", DTYPES)
def test_hypot_of_extreme_sides_neither_overflows_nor_vanishes(type: str) -> None:
    info = np.finfo(DTYPES[type])
    large = 2.0 ** (info.maxexp - 3)
    unit = np.array([info.smallest_subnormal, info.tiny, 1, large], DTYPES[type])
    got = numpy_kernels.function("hypot", type)(unit * 3, unit * -4)
    assert np.array_equal(got, unit * 5)


@pytest.mark.parametrize("type", DTYPES)
def test_cubes_have_exact_roots(type: str) -> None:
    roots = np.arange(-200, 201, dtype=DTYPES[type])
    got = numpy_kernels.function("cbrt", type)(roots**3)
    assert same_bits_or_nan(got[roots != 0], roots[roots != 0])


def c_pow(base: float, exponent: float) -> float:
    """C's pow, which Python's math.pow raises errors instead of."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -INF if base < 0 and exponent % 2 == 1 else INF
    except ValueError:
        if base == 0:  # to a negative power
            odd = exponent % 2 == 1
            return math.copysign(INF, base) if odd else INF
        return NAN
