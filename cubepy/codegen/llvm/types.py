"""Types and constants of LLVM IR for the IR's scalars, in registers and in memory, scalar or
vector.

A bool is `i1` in registers and `i8` in memory. bf16 lives in registers as its bits (`i16`): the
native conversion flushes denormals, so arithmetic goes through f32 with our own rounding.
"""

from __future__ import annotations

import struct

import numpy as np

from cubepy.ir import BF16, BOOL, F16, F32, Scalar

__all__ = ["constant", "memory_type", "register_type", "shaped", "splat", "typed_constant"]

_FLOATS = {"f16": "half", "f32": "float", "f64": "double"}


def register_type(scalar: Scalar) -> str:
    """One element in a register."""
    if scalar is BOOL:
        return "i1"
    return _FLOATS.get(scalar.name, f"i{scalar.bits}")


def memory_type(scalar: Scalar) -> str:
    """One element in memory."""
    return "i8" if scalar is BOOL else register_type(scalar)


def shaped(element: str, lanes: int) -> str:
    """A vector of `lanes` elements, or the element itself for 0."""
    return f"<{lanes} x {element}>" if lanes else element


def constant(scalar: Scalar, value: float) -> str:
    """A scalar constant without its type."""
    if scalar is BOOL:
        return "true" if value else "false"
    if scalar is F16:
        bits = int(np.float16(value).view(np.uint16))
        return f"0xH{bits:04X}"
    if scalar is BF16:
        return str(int(np.asarray(value).astype(BF16.numpy).view(np.uint16)))
    if scalar.is_float:
        with np.errstate(all="ignore"):
            exact = float(np.float32(value)) if scalar is F32 else float(value)
        bits = struct.unpack("<Q", struct.pack("<d", exact))[0]
        return f"0x{bits:016X}"
    return str(int(value))


def splat(element: str, text: str, lanes: int) -> str:
    """A constant in every lane (`lanes` 0: as it is)."""
    return f"splat ({element} {text})" if lanes else text


def typed_constant(scalar: Scalar, value: float, lanes: int) -> str:
    """A constant of a scalar, in every lane."""
    return splat(register_type(scalar), constant(scalar, value), lanes)
