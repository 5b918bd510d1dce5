"""How WGSL writes the IR's scalars and their constants, and which names it keeps for itself.

WGSL has i32, u32, f32 and bool. Narrower integers are kept extended to 32 bits, f16 and bf16 are
their bits in a u32, and 64-bit integers are pairs of u32, low word first, where they are not known
to fit an i32 (see `narrow.py`). Devices with doubles have f64 as well.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from cubepy.codegen.structured import Binding, Expression, primary
from cubepy.ir import BF16, BOOL, F16, F32, F64, Scalar

__all__ = ["RESERVED", "Machine", "is_half", "is_wide", "literal", "machine_of"]


class Machine(Enum):
    """What a value is in registers; the text is WGSL's name of the type."""

    BOOL = "bool"
    I32 = "i32"
    U32 = "u32"
    F32 = "f32"
    F64 = "f64"
    PAIR = "vec2<u32>"


def is_half(scalar: Scalar) -> bool:
    """Whether a value is its bits, and computed with as a float."""
    return scalar in (F16, BF16)


def is_wide(scalar: Scalar) -> bool:
    """Whether a value may need two words."""
    return scalar.is_integer and scalar.bits == 64


def machine_of(scalar: Scalar) -> Machine:
    """What a value is of which only the type is known."""
    if scalar is BOOL:
        return Machine.BOOL
    if scalar in (F32, F64):
        return Machine(scalar.name)
    if scalar.bits == 64:
        return Machine.PAIR
    return Machine.I32 if scalar.is_signed else Machine.U32


def literal(scalar: Scalar, value: float, machine: Machine | None = None) -> Expression:
    """A constant, with the exact bits."""
    machine = machine or machine_of(scalar)
    if machine is Machine.BOOL:
        return primary("true" if value else "false")
    if machine is Machine.F32:
        return _float(value)
    if machine is Machine.F64:
        return _double(value)
    if is_half(scalar):
        with np.errstate(all="ignore"):
            return primary(f"0x{int(np.asarray(value).astype(scalar.numpy).view(np.uint16)):04x}u")
    return _integer(machine, int(value))


def _integer(machine: Machine, value: int) -> Expression:
    if machine is Machine.PAIR:
        low, high = value & 0xFFFF_FFFF, value >> 32 & 0xFFFF_FFFF
        return primary(f"vec2<u32>({_word(low)}, {_word(high)})")
    if machine is Machine.U32:
        return primary(f"{value}u")
    if value == -(1 << 31):  # its magnitude has no literal
        return primary("i32(-2147483648)")
    return Expression(str(value), Binding.PRIMARY if value >= 0 else Binding.UNARY)


def _word(value: int) -> str:
    return f"{value}u" if value < 0x8000_0000 else f"0x{value:08x}u"


def _float(value: float) -> Expression:
    with np.errstate(all="ignore"):
        exact = np.float32(value)
    smallest = np.finfo(np.float32).smallest_normal
    if not np.isfinite(exact) or 0 < abs(exact) < smallest:
        # no literal may be written for these, nor computed from one
        return primary(f"cb_bits(0x{int(exact.view(np.uint32)):08x}u)")
    return _signed(str(exact), "")


def _double(value: float) -> Expression:
    exact = np.float64(value)
    if not np.isfinite(exact) or 0 < abs(exact) < np.finfo(np.float64).smallest_normal:
        return primary(f"cb_bits_f64(0x{int(exact.view(np.uint64)):016x}lu)")
    return _signed(str(exact), "lf")


def _signed(text: str, suffix: str) -> Expression:
    """A literal of a float's shortest digits."""
    if "." not in text and "e" not in text:
        text += ".0"
    if "." not in text:
        text = text.replace("e", ".0e")
    binding = Binding.UNARY if text.startswith("-") else Binding.PRIMARY
    return Expression(text + suffix, binding)


_KEYWORDS = """
    alias break case const const_assert continue continuing default diagnostic discard else enable
    false fn for if let loop override requires return struct switch true var while
    NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become
    binding_array cast catch class co_await co_return co_yield coherent column_major common compile
    compile_fragment concept const_cast consteval constexpr constinit crate debugger decltype delete
    demote demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough
    filter final finally friend from fxgroup get goto groupshared highp impl implements import
    inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move
    mut mutable namespace new nil noexcept noinline nointerpolation noperspective null nullptr of
    operator package packoffset partial pass patch pixelfragment precise precision premerge priv
    protected pub public readonly ref regardless register reinterpret_cast require resource
    restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine
    super target template this thread_local throw trait try type typedef typeid typename typeof
    union unless unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly
    yield main
"""
_TYPES = """
    bool i32 u32 f32 f16 i64 u64 f64 i16 u16 i8 u8 int uint float double half vec vec2 vec3 vec4
    vec2i vec3i vec4i vec2u vec3u vec4u vec2f vec3f vec4f vec2h vec3h vec4h mat2x2 mat2x3 mat2x4
    mat3x2 mat3x3 mat3x4 mat4x2 mat4x3 mat4x4 mat2x2f mat3x3f mat4x4f array atomic ptr sampler
    texture texture_1d texture_2d texture_3d read write read_write function private workgroup
    uniform storage handle immediate push_constant ray_query
"""
_FUNCTIONS = """
    bitcast all any select arrayLength abs acos acosh asin asinh atan atanh atan2 ceil clamp cos
    cosh countLeadingZeros countOneBits countTrailingZeros cross degrees determinant distance dot
    dot4U8Packed dot4I8Packed exp exp2 extractBits faceForward firstLeadingBit firstTrailingBit
    floor fma fract frexp insertBits inverseSqrt inverse outerProduct ldexp length log log2 max min
    mix modf normalize pow quantizeToF16 radians reflect refract reverseBits round saturate sign
    sin sinh smoothstep sqrt step tan tanh transpose trunc dpdx dpdy fwidth atomicLoad atomicStore
    atomicAdd atomicSub atomicMax atomicMin atomicAnd atomicOr atomicXor atomicExchange
    atomicCompareExchangeWeak pack2x16float unpack2x16float pack4x8snorm pack4x8unorm pack4xI8
    pack4xU8 unpack4xI8 unpack4xU8 storageBarrier workgroupBarrier textureBarrier
    workgroupUniformLoad subgroupAdd subgroupAll subgroupAny subgroupBallot subgroupBarrier
    subgroupBroadcast subgroupElect subgroupShuffle
"""
#: Names that generated code must not use for anything of the kernel's.
RESERVED = frozenset(
    (*_KEYWORDS.split(), *_TYPES.split(), *_FUNCTIONS.split(), "launch", "Launch", "report",
     "workgroup_id", "unit", "cube")
)  # fmt: skip
