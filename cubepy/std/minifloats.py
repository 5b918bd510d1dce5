"""Floats of 8, 6 and 4 bits, each in a byte, and TF32: their bits to f32, and floats to their bits.

`Array[cb.e4m3]` holds such numbers, which are decoded when read and encoded when written.
`cb.e4m3.decode(byte)` is exact; `cb.e4m3.encode(value)` rounds once, to nearest even, from any
float type, keeps denormals and the sign of zero, and where a value is too large gives what the
format has for it: infinity, NaN, or its largest number. Formats are those of "OCP Microscaling
Formats (MX) Specification 1.0" and of `ml_dtypes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cubepy as cb
from cubepy.frontend import StoredFormat, library_function
from cubepy.ir import F32, Scalar
from cubepy.records import dataclass

__all__ = [
    "Minifloat",
    "PowersOfTwo",
    "TensorFloat",
    "e2m1",
    "e2m3",
    "e3m2",
    "e4m3",
    "e5m2",
    "tf32",
    "ue8m0",
]


@dataclass(frozen=True)
class Minifloat(StoredFormat):
    """A format by its layout: sign, exponent and fraction from the top of the lower bits.

    `largest`: the bits of the largest number. `overflow`: what is beyond it becomes. `nan`: the
    bits of NaN, 0 in a format without; `infinite`: those of infinity, 0 in a format without.
    """

    name: str
    host: str
    exponent_bits: int
    fraction_bits: int
    bias: int
    largest: int
    overflow: int
    infinite: int
    nan: int

    @library_function
    def decode(self, byte: Any) -> Any:
        """The f32 that a byte stands for; bits above the sign are ignored."""
        magnitude = cb.u32(byte) & ((1 << (self.exponent_bits + self.fraction_bits)) - 1)
        sign = (cb.u32(byte) >> (self.exponent_bits + self.fraction_bits)) & 1
        shifted = magnitude << (23 - self.fraction_bits)
        normal = cb.bitcast(cb.f32, shifted + ((127 - self.bias) << 23))
        small = cb.f32(magnitude) * 2.0 ** (1 - self.bias - self.fraction_bits)
        value = cb.select(magnitude < (1 << self.fraction_bits), small, normal)
        if self.infinite:
            value = cb.select(magnitude == self.infinite, float("inf"), value)
        if self.nan:
            value = cb.select(magnitude > max(self.largest, self.infinite), float("nan"), value)
        return cb.select(sign == 1, -value, value)

    @library_function
    def encode(self, value: Any) -> Any:
        """The byte of the number next to a value."""
        single = _single(value)
        bits = cb.bitcast(cb.u32, single)
        magnitude = bits & 0x7FFFFFFF
        last = (magnitude >> (23 - self.fraction_bits)) & 1
        rounded = magnitude + last + ((1 << (22 - self.fraction_bits)) - 1)
        above = (127 - self.bias) << self.fraction_bits
        normal = (rounded >> (23 - self.fraction_bits)) - cb.u32(above)
        # Below the normal numbers a code is the value in units of the smallest: a sum rounds it.
        scale = 2.0 ** (self.bias - 1 + self.fraction_bits)
        units = cb.bitcast(cb.u32, abs(single) * scale + 8388608.0) - 0x4B000000
        code = cb.select(magnitude < ((128 - self.bias) << 23), units, normal)
        code = cb.select(code > self.largest, self.overflow, code)
        sign = (bits >> 31) << (self.exponent_bits + self.fraction_bits)
        return cb.u8(cb.select(cb.isnan(single), self.nan, code | sign))


@dataclass(frozen=True)
class PowersOfTwo(StoredFormat):
    """UE8M0, the scales of microscaling formats: an exponent without sign or fraction."""

    name: str
    host: str

    @library_function
    def decode(self, byte: Any) -> Any:
        """The power of two, from 2**-127 to 2**127; NaN for 255."""
        bits = cb.u32(byte)
        value = cb.bitcast(cb.f32, cb.select(bits == 0, 0x400000, bits << 23))
        return cb.select(bits == 255, float("nan"), value)

    @library_function
    def encode(self, value: Any) -> Any:
        """The byte of the power next to a value, the larger of two; NaN where there is none."""
        single = _single(value)
        bits = cb.bitcast(cb.u32, single)
        # 2**-127, which a denormal f32 is, lies nearer to what is below the middle to 2**-126.
        code = cb.select(bits < 0x600000, 0, (bits + 0x400000) >> 23)
        valid = (single > 0.0) & (code < 255)
        return cb.u8(cb.select(valid, code, 255))


@dataclass(frozen=True)
class TensorFloat(StoredFormat):
    """TF32: an f32 with 10 bits of fraction, the others zero."""

    name: str
    host: str

    @property
    def element(self) -> Scalar:
        """An f32."""
        return F32

    @library_function
    def decode(self, element: Any) -> Any:
        """The element, which is an f32."""
        return element

    @library_function
    def encode(self, value: Any) -> Any:
        """The f32 next to a value that has no more fraction bits."""
        single = _single(value)
        bits = cb.bitcast(cb.u32, single)
        rounded = (bits + ((bits >> 13) & 1) + 0xFFF) & ~0x1FFF
        return cb.select(cb.isnan(single), single, cb.bitcast(cb.f32, rounded))


def _single(value: Any) -> Any:
    """The value as f32; one of f64 is made odd, so that rounding it again is right."""
    if value.dtype != cb.f64:
        return cb.f32(value)
    near = cb.f32(value)
    back = cb.f64(near)
    bits = cb.bitcast(cb.u32, near)
    beyond = abs(back) > abs(value)
    odd = cb.select(beyond, bits - 1, bits) | 1
    exact = (back == value) | cb.isnan(value)
    return cb.select(exact, near, cb.bitcast(cb.f32, odd))


if TYPE_CHECKING:

    class _Stored(float):
        """A format as type checkers see it: its elements are read as numbers."""

        def __new__(cls, value: float) -> Any: ...
        @staticmethod
        def decode(element: int) -> float: ...
        @staticmethod
        def encode(value: float) -> int: ...

    class e4m3(_Stored):  # noqa: N801
        """See the value below."""

    class e5m2(_Stored):  # noqa: N801
        """See the value below."""

    class e3m2(_Stored):  # noqa: N801
        """See the value below."""

    class e2m3(_Stored):  # noqa: N801
        """See the value below."""

    class e2m1(_Stored):  # noqa: N801
        """See the value below."""

    class ue8m0(_Stored):  # noqa: N801
        """See the value below."""

    class tf32(_Stored):  # noqa: N801
        """See the value below."""

else:
    e4m3 = Minifloat(
        "e4m3", "float8_e4m3fn", 4, 3, bias=7, largest=0x7E, overflow=0x7F, infinite=0, nan=0x7F
    )
    e5m2 = Minifloat(
        "e5m2", "float8_e5m2", 5, 2, bias=15, largest=0x7B, overflow=0x7C, infinite=0x7C, nan=0x7E
    )
    e3m2 = Minifloat(
        "e3m2", "float6_e3m2fn", 3, 2, bias=3, largest=0x1F, overflow=0x1F, infinite=0, nan=0
    )
    e2m3 = Minifloat(
        "e2m3", "float6_e2m3fn", 2, 3, bias=1, largest=0x1F, overflow=0x1F, infinite=0, nan=0
    )
    e2m1 = Minifloat(
        "e2m1", "float4_e2m1fn", 2, 1, bias=1, largest=0x07, overflow=0x07, infinite=0, nan=0
    )
    ue8m0 = PowersOfTwo("ue8m0", "float8_e8m0fnu")
    tf32 = TensorFloat("tf32", "float32")
