"""Conversions between scalars: integers wrap, float to int saturates with NaN as 0, floats round
once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from cubepy.codegen.llvm.lanes import Lanes
from cubepy.ir import BF16, BOOL, F16, F32, F64, I32, I64, Scalar

__all__ = ["F32", "bf16_to_f32", "cast", "f32_to_bf16", "half_fma", "resize"]


def bf16_to_f32(lanes: Lanes, bits: str) -> str:
    """Exact: the bits are the upper half of the f32."""
    wide = lanes.w.value(f"zext {lanes.integer(16)} {bits} to {lanes.integer(32)}")
    shifted = lanes.w.value(f"shl {lanes.integer(32)} {wide}, {lanes.int_const(32, 16)}")
    return lanes.w.value(f"bitcast {lanes.integer(32)} {shifted} to {lanes.type(F32)}")


def f32_to_bf16(lanes: Lanes, value: str) -> str:
    """To nearest even on the bits; NaN is made quiet; denormals are kept."""
    w, i32 = lanes.w, lanes.integer(32)
    bits = w.value(f"bitcast {lanes.type(F32)} {value} to {i32}")
    upper = w.value(f"lshr {i32} {bits}, {lanes.int_const(32, 16)}")
    odd = w.value(f"and {i32} {upper}, {lanes.int_const(32, 1)}")
    bias = w.value(f"add {i32} {odd}, {lanes.int_const(32, 0x7FFF)}")
    rounded = w.value(
        f"lshr {i32} {w.value(f'add {i32} {bits}, {bias}')}, {lanes.int_const(32, 16)}"
    )
    quiet = w.value(f"or {i32} {upper}, {lanes.int_const(32, 0x40)}")
    is_nan = lanes.compare("fcmp uno", F32, value, value)
    chosen = w.value(f"select {lanes.mask} {is_nan}, {i32} {quiet}, {i32} {rounded}")
    return w.value(f"trunc {i32} {chosen} to {lanes.integer(16)}")


def _f64_to_odd_f32(lanes: Lanes, value: str) -> str:
    """f64 to f32, inexact results made odd, so that a second rounding to fewer bits is right.

    Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE TC 57(4), 2008.
    """
    w, i32 = lanes.w, lanes.integer(32)
    near = w.value(f"fptrunc {lanes.type(F64)} {value} to {lanes.type(F32)}")
    back = w.value(f"fpext {lanes.type(F32)} {near} to {lanes.type(F64)}")
    bits = w.value(f"bitcast {lanes.type(F32)} {near} to {i32}")
    magnitude, back_magnitude = lanes.call("fabs", F64, value), lanes.call("fabs", F64, back)
    inexact = lanes.compare("fcmp one", F64, value, back)
    larger = lanes.compare("fcmp ogt", F64, magnitude, back_magnitude)
    odd = w.value(f"and {i32} {bits}, {lanes.int_const(32, 1)}")
    even = w.value(f"icmp eq {i32} {odd}, {lanes.int_const(32, 0)}")
    step = w.value(
        f"select {lanes.mask} {larger}, {i32} {lanes.int_const(32, 1)}, "
        f"{i32} {lanes.int_const(32, -1)}"
    )
    moved = w.value(f"add {i32} {bits}, {step}")
    chosen = w.value(
        f"select {lanes.mask} {lanes.both(inexact, even)}, {i32} {moved}, {i32} {bits}"
    )
    return w.value(f"bitcast {i32} {chosen} to {lanes.type(F32)}")


def half_fma(lanes: Lanes, scalar: Scalar, args: Sequence[str]) -> str:
    """Fma of halves rounded once: the product is exact in f64, the f64 sum is made odd by its own
    error.
    """
    lanes = lanes.strict  # "error" is 0 to one who may reassociate
    wide = [cast(lanes, scalar, F64, arg) for arg in args]
    product = lanes.instruction("fmul", F64, wide[0], wide[1])
    total = lanes.instruction("fadd", F64, product, wide[2])
    virtual = lanes.instruction("fsub", F64, total, product)
    rest = lanes.instruction("fsub", F64, product, lanes.instruction("fsub", F64, total, virtual))
    error = lanes.instruction("fadd", F64, rest, lanes.instruction("fsub", F64, wide[2], virtual))
    return cast(lanes, F64, scalar, _make_odd(lanes, total, error))


def _make_odd(lanes: Lanes, total: str, error: str) -> str:
    """`total` with its last bit set odd where `error` says it is inexact."""
    w, i64 = lanes.w, lanes.integer(64)
    bits = w.value(f"bitcast {lanes.type(F64)} {total} to {i64}")
    zero = lanes.const(F64, 0.0)
    inexact = lanes.compare("fcmp one", F64, error, zero)
    above = lanes.compare("fcmp ogt", F64, error, zero)
    positive = lanes.compare("fcmp ogt", F64, total, zero)
    outward = w.value(f"xor {lanes.mask} {above}, {positive}")
    step = w.value(
        f"select {lanes.mask} {outward}, {i64} {lanes.int_const(64, -1)}, "
        f"{i64} {lanes.int_const(64, 1)}"
    )
    odd = w.value(f"and {i64} {bits}, {lanes.int_const(64, 1)}")
    even = w.value(f"icmp eq {i64} {odd}, {lanes.int_const(64, 0)}")
    moved = w.value(f"add {i64} {bits}, {step}")
    chosen = w.value(
        f"select {lanes.mask} {lanes.both(inexact, even)}, {i64} {moved}, {i64} {bits}"
    )
    return w.value(f"bitcast {i64} {chosen} to {lanes.type(F64)}")


def resize(lanes: Lanes, source: Scalar, target: Scalar, value: str, *, signed: bool) -> str:
    """Between integer widths."""
    if source.bits == target.bits:
        return value
    opcode = "trunc" if target.bits < source.bits else ("sext" if signed else "zext")
    return lanes.convert(opcode, source, target, value)


def cast(lanes: Lanes, source: Scalar, target: Scalar, value: str) -> str:
    """Any scalar to any scalar, by its strict meaning in every fast-math mode."""
    if source is target:
        return value
    lanes = lanes.strict
    if source is BOOL:
        return _from_bool(lanes, target, value)
    if target is BOOL:
        return _to_bool(lanes, source, value)
    if source.is_float:
        return (
            _float_to_float(lanes, source, target, value)
            if target.is_float
            else _to_int(lanes, source, target, value)
        )
    if target.is_float:
        return _int_to_float(lanes, source, target, value)
    return resize(lanes, source, target, value, signed=source.is_signed)


def _from_bool(lanes: Lanes, target: Scalar, value: str) -> str:
    return lanes.select(value, target, lanes.const(target, 1), lanes.const(target, 0))


def _to_bool(lanes: Lanes, source: Scalar, value: str) -> str:
    if source is BF16:
        source, value = F32, bf16_to_f32(lanes, value)
    predicate = "fcmp une" if source.is_float else "icmp ne"
    return lanes.compare(predicate, source, value, lanes.const(source, 0))


def _float_to_float(lanes: Lanes, source: Scalar, target: Scalar, value: str) -> str:
    if source is BF16:
        return cast(lanes, F32, target, bf16_to_f32(lanes, value))
    if target is BF16:
        narrow = _f64_to_odd_f32(lanes, value) if source is F64 else cast(lanes, source, F32, value)
        return f32_to_bf16(lanes, narrow)
    if source is F64 and target is F16:
        return lanes.convert("fptrunc", F32, F16, _f64_to_odd_f32(lanes, value))
    if source is F16 and target is F64:
        return lanes.convert("fpext", F32, F64, lanes.convert("fpext", F16, F32, value))
    return lanes.convert("fpext" if target.bits > source.bits else "fptrunc", source, target, value)


def _to_int(lanes: Lanes, source: Scalar, target: Scalar, value: str) -> str:
    """Saturating: the conversion itself is chosen only where it is defined."""
    if source in (F16, BF16):
        source, value = F32, cast(lanes, source, F32, value)
    if target.bits <= source.bits // 2:
        return _to_small_int(lanes, source, target, value)
    low, high = float(target.minimum), float(target.maximum + 1)
    signed_wide = target.bits < 32
    middle = I32 if signed_wide else target
    opcode = "fptosi" if middle.is_signed else "fptoui"
    above = lanes.compare("fcmp oge", source, value, lanes.const(source, high))
    inside_low = (
        "fcmp ogt" if target.bits < source.bits * 3 // 4 or not target.is_signed else "fcmp oge"
    )
    bottom = low - 1.0 if inside_low == "fcmp ogt" else low
    inside = lanes.compare(inside_low, source, value, lanes.const(source, bottom))
    usable = lanes.both(inside, lanes.compare("fcmp olt", source, value, lanes.const(source, high)))
    safe = lanes.select(usable, source, value, lanes.const(source, 0.0))
    number = resize(lanes, middle, target, lanes.convert(opcode, source, middle, safe), signed=True)
    below = lanes.compare(
        "fcmp ole", source, value, lanes.const(source, bottom if inside_low == "fcmp ogt" else low)
    )
    limited = lanes.select(above, target, lanes.const(target, target.maximum), number)
    return lanes.select(below, target, lanes.const(target, target.minimum), limited)


def _to_small_int(lanes: Lanes, source: Scalar, target: Scalar, value: str) -> str:
    """Where the float type has both ends of the integer type exactly: clamped before it converts,
    which is two instructions. NaN fails the first comparison, so unsigned it is 0 already.
    """
    if target.is_signed:
        number = lanes.compare("fcmp ord", source, value, value)
        value = lanes.select(number, source, value, lanes.const(source, 0.0))
    for order, end in (("ogt", target.minimum), ("olt", target.maximum)):
        limit = lanes.const(source, float(end))
        within = lanes.compare(f"fcmp {order}", source, value, limit)
        value = lanes.select(within, source, value, limit)
    middle = I32 if target.bits < 32 else target
    opcode = "fptosi" if middle.is_signed else "fptoui"
    whole = lanes.convert(opcode, source, middle, value)
    return resize(lanes, middle, target, whole, signed=True)


def _int_to_float(lanes: Lanes, source: Scalar, target: Scalar, value: str) -> str:
    opcode = "sitofp" if source.is_signed else "uitofp"
    if target not in (F16, BF16):
        return lanes.convert(opcode, source, target, value)
    if source.bits <= 16:
        return cast(lanes, F32, target, lanes.convert(opcode, source, F32, value))
    if source.bits == 64:
        value = _sticky(lanes, source, value)
    number = lanes.convert(opcode, source, F64, value)
    return cast(lanes, F64, target, number if target is BF16 else _half_or_infinite(lanes, number))


def _half_or_infinite(lanes: Lanes, value: str) -> str:
    """Beyond the largest half, infinity at once: LLVM 22 takes an integer with few enough bits for
    exact in a half, large as it may be, and hands it on as it was to whoever widens the half.
    """
    for order, least in (("oge", 65520.0), ("ole", -65520.0)):
        beyond = lanes.compare(f"fcmp {order}", F64, value, lanes.const(F64, least))
        infinite = lanes.const(F64, math.copysign(math.inf, least))
        value = lanes.select(beyond, F64, infinite, value)
    return value


def _sticky(lanes: Lanes, source: Scalar, value: str) -> str:
    """A 64-bit integer with its low 11 bits or-ed into bit 11 when large: exact in f64 for half
    rounding.
    """
    w, i64 = lanes.w, lanes.integer(64)
    low = w.value(f"and {i64} {value}, {lanes.int_const(64, 0x7FF)}")
    some = w.value(f"icmp ne {i64} {low}, {lanes.int_const(64, 0)}")
    cleared = w.value(f"and {i64} {value}, {lanes.int_const(64, ~0x7FF)}")
    marked = w.value(f"or {i64} {cleared}, {lanes.int_const(64, 0x800)}")
    sticky = w.value(f"select {lanes.mask} {some}, {i64} {marked}, {i64} {value}")
    magnitude = lanes.call("abs", I64, value, extra=", i1 false") if source.is_signed else value
    large = w.value(f"icmp ugt {i64} {magnitude}, {lanes.int_const(64, 1 << 53)}")
    return w.value(f"select {lanes.mask} {large}, {i64} {sticky}, {i64} {value}")
