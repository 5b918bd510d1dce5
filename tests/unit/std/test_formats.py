"""Constants and polynomials of the library are what they claim, computed again with mpmath."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from mpmath import mp, mpf

from cubepy.std import formats, polynomials, reduction
from cubepy.std.formats import F32, F64, FloatFormat
from tests.nightly import derive_polynomials
from tests.nightly.minimax import rounded

FORMATS = [pytest.param(F32, id="f32"), pytest.param(F64, id="f64")]


def parts(value: mpf, *bits: int) -> tuple[float, ...]:
    """Successive roundings to these many significant bits."""
    found = []
    for count in bits:
        found.append(rounded(value, count))
        value -= found[-1]
    return tuple(map(float, found))


def bits_of(value: float, form: FloatFormat) -> int:
    code = {32: "<f", 64: "<d"}[form.bits]
    return int.from_bytes(struct.pack(code, value), "little")


@pytest.mark.parametrize("form", FORMATS)
def test_layout(form: FloatFormat) -> None:
    info = np.finfo(np.float32) if form is F32 else np.finfo(np.float64)
    assert form.fraction_bits == info.nmant
    assert form.spare_bits == form.bits - 1 - info.nmant
    assert form.bias == info.maxexp - 1
    assert form.smallest_normal == float(info.tiny)
    assert form.rounder == 1.5 * 2.0**info.nmant
    assert form.integer_base == 2.0**info.nmant
    assert form.denormal_scale == 2.0**form.denormal_shift
    assert form.denormal_shift >= info.nmant
    assert form.rounder_bits == bits_of(form.rounder, form)
    assert form.integer_bits == bits_of(form.integer_base, form)
    assert form.one_bits == bits_of(1.0, form)
    assert form.half_root_bits == bits_of(float(mp.sqrt(mpf(1) / 2)), form)
    assert form.first_bits == bits_of(
        float(mpf(2) / 3 if form is F32 else mp.sqrt(mpf("0.5"))), form
    )


@pytest.mark.parametrize("form", FORMATS)
def test_split_constants(form: FloatFormat) -> None:
    full = form.fraction_bits + 1
    # Exact products with the exponents of the format leave the high part 8 or 11 bits less.
    short = full - form.spare_bits
    ln2 = mp.log(2)
    assert form.ln2 == parts(ln2, short, full)
    assert form.log10_2 == parts(ln2 / mp.log(10), short, full)
    assert form.log2_e == parts(1 / ln2, full, full)
    assert form.log10_e == parts(1 / mp.log(10), full, full)
    assert form.log2_linear == parts(2 / ln2, full, full)
    assert form.log2_cubic == parts(2 / ln2 / 3, full, full)
    assert form.two_over_pi == parts(2 / mp.pi, full)[0]


@pytest.mark.parametrize("form", FORMATS)
def test_parts_of_half_pi(form: FloatFormat) -> None:
    """Positive, so that zeros keep their sign; together far more exact than any reduced angle."""
    full = form.fraction_bits + 1
    first, second, third = map(mpf, form.half_pi)
    assert all(rounded(part, full) == part for part in (first, second, third))
    assert second > 0
    assert 0 < mp.pi / 2 - first < mpf(2) ** (1 - full)
    assert abs(mp.pi / 2 - first - second) < mpf(2) ** (-2 * full + 1)
    assert abs(mp.pi / 2 - first - second - third) < mpf(2) ** (-3 * full)


@pytest.mark.parametrize("form", FORMATS)
def test_quarter_turns_and_degrees(form: FloatFormat) -> None:
    """Up to four quarters of π have an exact high part."""
    full = form.fraction_bits + 1
    assert form.quarter_pi == parts(mp.pi / 4, full - 2, full)
    assert form.degrees == parts(180 / mp.pi, full)[0]
    assert form.radians == parts(mp.pi / 180, full)[0]


def test_words_of_two_over_pi() -> None:
    with mp.workprec(1400):
        whole = int(mp.floor(mpf(2) / mp.pi * mpf(2) ** (64 * 18)))
    words = [whole >> (64 * (17 - place)) & (2**64 - 1) for place in range(18)]
    assert (0, *words) == reduction._WORDS_64
    halves = [half for word in words for half in (word >> 32, word & (2**32 - 1))]
    assert (0, *halves[:6]) == reduction._WORDS_32


@pytest.mark.parametrize("form", FORMATS)
def test_limits_lie_where_results_stop_changing(form: FloatFormat) -> None:
    largest = mpf(2) ** (form.bias + 1)
    smallest = mpf(2) ** (1 - form.bias - form.fraction_bits)
    half_place = mpf(2) ** -(form.fraction_bits + 2)
    assert mp.exp(form.exp_range[1]) > largest
    assert mp.exp(form.exp_range[0]) < smallest / 2
    assert mpf(2) ** form.exp2_range[1] > largest
    assert mpf(2) ** form.exp2_range[0] < smallest / 2
    assert mp.expm1(form.expm1_range[0]) + 1 < half_place
    assert 1 - mp.tanh(form.tanh_limit) < half_place
    assert mp.sinh(form.sinh_limit) > largest
    assert mp.exp(form.sinh_limit) / 8 < largest / 2  # it is computed as a quarter
    assert mp.pi / 2 - mp.atan(form.atan_limit) < half_place
    assert 1 / mpf(form.square_limit) ** 2 < half_place / form.fraction_bits
    assert mp.erfc(form.erf_limit) < half_place
    assert mp.erfc(form.erfc_limit) < smallest / 2


@pytest.mark.parametrize("form", FORMATS)
def test_rescaled_sides_have_squares_of_full_precision(form: FloatFormat) -> None:
    """Whatever the larger side: its square neither overflows nor comes near the denormals."""
    low, high = form.hypot_range
    smallest = form.smallest_normal * 2.0**-form.fraction_bits
    largest = (2 - 2.0**-form.fraction_bits) * 2.0**form.bias
    for least, most in ((smallest * form.rescale, low * form.rescale), (low, high),
                        (high / form.rescale, largest / form.rescale)):  # fmt: skip
        assert mpf(most) ** 2 * 2 < largest
        assert mpf(least) ** 2 * mpf(2) ** -(form.fraction_bits + 2) > smallest


def test_polynomials_are_what_the_script_derives() -> None:
    """Three quick ones; the script itself checks all."""
    text = derive_polynomials.FILE.read_text()
    chosen = {"EXP_TAIL_F32", "SIN_TAIL_F32", "COS_TAIL_F64"}
    fits = [fit for fit in derive_polynomials.fits() if fit.name in chosen]
    assert {fit.name for fit in fits} == chosen
    for fit in fits:
        assert derive_polynomials.text_of(fit) in text


def test_every_coefficient_is_a_float_of_its_format() -> None:
    for name, value in vars(polynomials).items():
        if name.endswith("_F32") and isinstance(value, tuple):
            assert all(float(np.float32(coefficient)) == coefficient for coefficient in value), name
    assert formats.F32.exp_tail is polynomials.EXP_TAIL_F32
