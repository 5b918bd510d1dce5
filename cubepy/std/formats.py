"""What the algorithms need to know of a float format: layout, split constants, limits, polynomials.

One algorithm serves f32 and f64; it takes a `FloatFormat`, which is comptime, so branches on it are
decided while lowering. A constant split into parts is given high part first; where a product with a
small integer must be exact the high part has zeros at its end. `tests/unit/std/test_formats.py`
computes every constant again.
"""

from __future__ import annotations

from cubepy.records import dataclass
from cubepy.std import polynomials

__all__ = ["F32", "F64", "FloatFormat"]

Coefficients = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatFormat:
    """A format and its constants. `rounder` is 1.5 · 2**fraction_bits: adding it rounds to an
    integer that then stands in the low bits; `rounder_bits` and `integer_bits` are the bits of it
    and of `integer_base` = 2**fraction_bits.
    """

    bits: int
    fraction_bits: int
    spare_bits: int
    bias: int
    rounder: float
    rounder_bits: int
    integer_base: float
    integer_bits: int
    one_bits: int
    smallest_normal: float
    denormal_scale: float
    denormal_shift: float

    ln2: tuple[float, float]
    log2_e: tuple[float, float]
    log10_e: tuple[float, float]
    log10_2: tuple[float, float]
    exp_range: tuple[float, float]
    exp2_range: tuple[float, float]
    expm1_range: tuple[float, float]
    exp_tail: Coefficients
    exp2_factor: Coefficients

    first_bits: int
    log_tail: Coefficients
    half_root_bits: int
    log2_linear: tuple[float, float]
    log2_cubic: tuple[float, float]
    log2_atanh_tail: Coefficients

    half_pi: tuple[float, float, float]
    two_over_pi: float
    reduction_limit: float
    sin_tail: Coefficients
    cos_tail: Coefficients

    sinh_limit: float
    tanh_limit: float
    erf_limit: float
    erf_factor: Coefficients
    erfc_small: Coefficients
    erfc_limit: float
    erfc_centre: float
    erfc_scaled: Coefficients

    asin_tail: Coefficients
    atan_tail: Coefficients
    quarter_pi: tuple[float, float]
    atan_limit: float
    degrees: float
    radians: float
    inverse_cbrt: Coefficients
    rescale: float
    hypot_range: tuple[float, float]
    square_limit: float


F32 = FloatFormat(
    bits=32,
    fraction_bits=23,
    spare_bits=8,
    bias=127,
    rounder=12582912.0,
    rounder_bits=0x4B400000,
    integer_base=8388608.0,
    integer_bits=0x4B000000,
    one_bits=0x3F800000,
    smallest_normal=1.1754943508222875e-38,
    denormal_scale=8388608.0,
    denormal_shift=23.0,
    ln2=(0.693145751953125, 1.428606765330187e-06),
    log2_e=(1.4426950216293335, 1.925963033500011e-08),
    log10_e=(0.4342944920063019, -1.0103049952192578e-08),
    log10_2=(0.30103302001953125, -3.024355464731343e-06),
    exp_range=(-104.0, 89.0),
    exp2_range=(-151.0, 129.0),
    expm1_range=(-18.0, 89.0),
    exp_tail=polynomials.EXP_TAIL_F32,
    exp2_factor=polynomials.EXP2_FACTOR_F32,
    first_bits=0x3F2AAAAB,  # 2/3
    log_tail=polynomials.LOG_TAIL_F32,
    half_root_bits=0x3F3504F3,
    log2_linear=(2.885390043258667, 3.851926067000022e-08),
    log2_cubic=(0.9617967009544373, -7.028461812552678e-09),
    log2_atanh_tail=polynomials.POW_LOG_TAIL_F32,
    half_pi=(1.570796251296997, 7.549789415861596e-08, 5.390302953474238e-15),
    two_over_pi=0.6366197466850281,
    reduction_limit=131072.0,
    sin_tail=polynomials.SIN_TAIL_F32,
    cos_tail=polynomials.COS_TAIL_F32,
    sinh_limit=90.0,
    tanh_limit=10.0,
    erf_limit=3.93,
    erf_factor=polynomials.ERF_FACTOR_F32,
    erfc_small=polynomials.ERFC_SMALL_F32,
    erfc_limit=10.2,
    erfc_centre=polynomials.ERFC_CENTRE_F32,
    erfc_scaled=polynomials.ERFC_SCALED_F32,
    asin_tail=polynomials.ASIN_TAIL_F32,
    atan_tail=polynomials.ATAN_TAIL_F32,
    quarter_pi=(0.7853982448577881, -8.146034247147327e-08),
    atan_limit=2.0**33,
    degrees=57.295780181884766,
    radians=0.01745329238474369,
    inverse_cbrt=polynomials.INVERSE_CBRT_F32,
    rescale=2.0**100,
    hypot_range=(2.0**-40, 2.0**60),
    square_limit=2.0**28,
)

F64 = FloatFormat(
    bits=64,
    fraction_bits=52,
    spare_bits=11,
    bias=1023,
    rounder=6755399441055744.0,
    rounder_bits=0x4338000000000000,
    integer_base=4503599627370496.0,
    integer_bits=0x4330000000000000,
    one_bits=0x3FF0000000000000,
    smallest_normal=2.2250738585072014e-308,
    denormal_scale=4503599627370496.0,
    denormal_shift=52.0,
    ln2=(0.6931471805598903, 5.497923018708371e-14),
    log2_e=(1.4426950408889634, 2.0355273740931033e-17),
    log10_e=(0.4342944819032518, 1.098319650216765e-17),
    log10_2=(0.30102999566395283, 2.8363394551044964e-14),
    exp_range=(-746.0, 710.0),
    exp2_range=(-1076.0, 1025.0),
    expm1_range=(-38.0, 710.0),
    exp_tail=polynomials.EXP_TAIL_F64,
    exp2_factor=polynomials.EXP2_FACTOR_F64,
    first_bits=0x3FE6A09E667F3BCD,  # sqrt(1/2)
    log_tail=polynomials.ATANH_TAIL_F64,
    half_root_bits=0x3FE6A09E667F3BCD,
    log2_linear=(2.8853900817779268, 4.0710547481862066e-17),
    log2_cubic=(0.9617966939259756, 5.0577616648125907e-17),
    log2_atanh_tail=polynomials.POW_LOG_TAIL_F64,
    half_pi=(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
    two_over_pi=0.6366197723675814,
    reduction_limit=1099511627776.0,
    sin_tail=polynomials.SIN_TAIL_F64,
    cos_tail=polynomials.COS_TAIL_F64,
    sinh_limit=711.0,
    tanh_limit=20.0,
    erf_limit=5.95,
    erf_factor=polynomials.ERF_FACTOR_F64,
    erfc_small=polynomials.ERFC_SMALL_F64,
    erfc_limit=27.4,
    erfc_centre=polynomials.ERFC_CENTRE_F64,
    erfc_scaled=polynomials.ERFC_SCALED_F64,
    asin_tail=polynomials.ASIN_TAIL_F64,
    atan_tail=polynomials.ATAN_TAIL_F64,
    quarter_pi=(0.7853981633974483, 3.061616997868383e-17),
    atan_limit=2.0**62,
    degrees=57.29577951308232,
    radians=0.017453292519943295,
    inverse_cbrt=polynomials.INVERSE_CBRT_F64,
    rescale=2.0**700,
    hypot_range=(2.0**-400, 2.0**500),
    square_limit=2.0**56,
)
