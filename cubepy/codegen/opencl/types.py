"""How OpenCL C writes the IR's scalars and their constants, and which names it keeps for itself.

A bool is `bool` in registers and `uchar` in memory; f16 and bf16 are their bits in a `ushort` in
both, since arithmetic on `half` is an extension.
"""

from __future__ import annotations

import numpy as np

from cubepy.codegen.structured import Binding, Expression, primary
from cubepy.ir import BF16, BOOL, F16, F32, F64, INDEX, Scalar

__all__ = ["RESERVED", "is_half", "literal", "memory_type", "register_type", "unsigned_type"]

_TYPES = {
    "bool": "bool", "i8": "char", "u8": "uchar", "i16": "short", "u16": "ushort", "i32": "int",
    "u32": "uint", "i64": "long", "u64": "ulong", "index": "long", "f16": "ushort",
    "bf16": "ushort", "f32": "float", "f64": "double",
}  # fmt: skip
_UNSIGNED = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}
_SUFFIXES = {"u32": "u", "i64": "l", "u64": "ul", "index": "l"}


def register_type(scalar: Scalar) -> str:
    """The type of a value."""
    return _TYPES[scalar.name]


def memory_type(scalar: Scalar) -> str:
    """The type of an element in memory."""
    return "uchar" if scalar is BOOL else _TYPES[scalar.name]


def unsigned_type(scalar: Scalar) -> str:
    """The unsigned type of that width, in which integers wrap."""
    return _UNSIGNED[scalar.bits]


def is_half(scalar: Scalar) -> bool:
    """Whether a value is its bits, and computed with as a float."""
    return scalar in (F16, BF16)


def literal(scalar: Scalar, value: float) -> Expression:
    """A constant, with the exact bits."""
    if scalar is BOOL:
        return primary("true" if value else "false")
    if is_half(scalar):
        with np.errstate(all="ignore"):
            bits = int(np.asarray(value).astype(scalar.numpy).view(np.uint16))
        return primary(f"0x{bits:04x}")
    if scalar.is_float:
        return _float(scalar, value)
    return _integer(scalar, int(value))


def _integer(scalar: Scalar, value: int) -> Expression:
    suffix = _SUFFIXES.get(scalar.name, "")
    if scalar.bits >= 32 and value == scalar.minimum < 0:  # its magnitude has no literal
        return Expression(f"(-{-(value + 1)}{suffix} - 1)")
    if scalar is INDEX and abs(value) < 1 << 31:
        suffix = ""
    binding = Binding.PRIMARY if value >= 0 else Binding.UNARY
    return Expression(f"{value}{suffix}", binding)


def _float(scalar: Scalar, value: float) -> Expression:
    exact = scalar.numpy.type(value)
    suffix = "f" if scalar is F32 else ""
    if np.isnan(exact) or np.isinf(exact):
        bits = int(exact.view(np.uint32 if scalar is F32 else np.uint64))
        if scalar is F32:
            return primary(f"as_float(0x{bits:08x}u)")
        return primary(f"as_double(0x{bits:016x}ul)")
    text = repr(float(exact)) if scalar is F64 else str(exact)
    binding = Binding.UNARY if np.signbit(exact) else Binding.PRIMARY
    return Expression(f"{text if '.' in text or 'e' in text else text + '.0'}{suffix}", binding)


_KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while bool true false half quad complex imaginary asm typeof
    kernel global local private constant generic read_only write_only read_write uniform pipe
    uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t event_t sampler_t queue_t
    clk_event_t reserve_id_t ndrange_t cl_mem_fence_flags memory_order memory_scope atomic_int
    atomic_uint atomic_long atomic_ulong atomic_float atomic_double atomic_flag image1d_t
    image2d_t image3d_t
    class namespace template typename this new delete operator virtual public protected friend
    try catch throw using static_cast main vec_step nan printf NAN INFINITY MAXFLOAT HUGE_VAL
    HUGE_VALF FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON INT_MAX INT_MIN UINT_MAX
    LONG_MAX LONG_MIN ULONG_MAX CHAR_BIT CHAR_MAX CHAR_MIN SCHAR_MAX SCHAR_MIN SHRT_MAX SHRT_MIN
    UCHAR_MAX USHRT_MAX NULL M_E M_PI M_E_F M_PI_F M_LN2 M_LN10 M_SQRT2 linux unix
"""
_FUNCTIONS = """
    acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh
    cospi erf erfc exp exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod fract frexp hypot ilogb
    ldexp lgamma lgamma_r log log2 log10 log1p logb mad maxmag minmag modf nextafter pow pown powr
    remainder remquo rint rootn round rsqrt sin sincos sinh sinpi sqrt tan tanh tanpi tgamma trunc
    abs abs_diff add_sat hadd rhadd clamp clz ctz mad_hi mad_sat max min mul_hi rotate sub_sat
    upsample popcount mad24 mul24 degrees mix radians step smoothstep sign cross dot distance length
    normalize fast_distance fast_length fast_normalize isequal isnotequal isgreater isgreaterequal
    isless islessequal islessgreater isfinite isinf isnan isnormal isordered isunordered signbit any
    all bitselect select barrier mem_fence read_mem_fence write_mem_fence prefetch shuffle shuffle2
    async_work_group_copy wait_group_events work_group_barrier bit_reverse
"""
_VECTORS = (
    f"{type}{width}"
    for type in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half",
                 "float", "double")
    for width in (2, 3, 4, 8, 16)
)  # fmt: skip
_ATOMICS = (
    f"{prefix}_{verb}"
    for prefix in ("atomic", "atom")
    for verb in ("add", "sub", "min", "max", "and", "or", "xor", "xchg", "cmpxchg", "inc", "dec",
                 "load", "store", "exchange", "init", "work_item_fence")
)  # fmt: skip
#: Names that generated code must not use for anything of the kernel's.
RESERVED = frozenset(
    (*_KEYWORDS.split(), *_FUNCTIONS.split(), *_VECTORS, *_ATOMICS, "launch", "report")
)
