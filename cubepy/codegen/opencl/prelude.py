"""Functions in OpenCL C that expressions of generated code call, written where they are used.

Each is text with `$T` for the type it is for, `$U` for the unsigned one of that width, `$S` for the
signed word with its bits, `$M` for the one that products are taken in, and `$name` for other
helpers of the same type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cubepy.codegen.opencl.types import register_type, unsigned_type
from cubepy.codegen.structured import HELPER
from cubepy.ir import F32, Scalar

__all__ = ["Prelude"]

_INTEGER: Mapping[str, str] = {
    "trunc_div": """
$T $trunc_div($T a, $T b) {
    const $T divisor = $harmless;
    return b == 0 ? 0 : $negates ? ($T)(0 - ($M)a) : ($T)(a / divisor);
}""",
    "trunc_rem": """
$T $trunc_rem($T a, $T b) {
    const $T divisor = $harmless;
    return ($T)(a % divisor);
}""",
    "floor_div": """
$T $floor_div($T a, $T b) {
    const $T divisor = $harmless;
    const $T rest = ($T)(a % divisor);
    const $T quotient = ($T)(a / divisor - (rest != 0 && (rest < 0) != (divisor < 0)));
    return b == 0 ? 0 : $negates ? ($T)(0 - ($M)a) : quotient;
}""",
    "floor_mod": """
$T $floor_mod($T a, $T b) {
    const $T divisor = $harmless;
    const $T rest = ($T)(a % divisor);
    return rest != 0 && (rest < 0) != (divisor < 0) ? ($T)(rest + divisor) : rest;
}""",
    "shl": """
$T $shl($T value, ulong count) {
    return count < $bits ? ($T)(($M)value << count) : ($T)0;
}""",
    "shr": """
$T $shr($T value, ulong count) {
    return count < $bits ? ($T)(value >> count) : ($T)(value < 0 ? -1 : 0);
}""",
    "power": """
$T $power($T base, ulong exponent) {
    $U result = 1;
    for ($U factor = ($U)base; exponent != 0; exponent >>= 1) {
        result = exponent & 1 ? ($U)(($M)result * factor) : result;
        factor = ($U)(($M)factor * factor);
    }
    return ($T)result;
}""",
    "power_signed": """
$T $power_signed($T base, long exponent) {
    const $T inverse = base == 1 ? 1 : $negates_base ? (exponent & 1 ? -1 : 1) : 0;
    return exponent < 0 ? inverse : $power(base, (ulong)exponent);
}""",
    "ctz": """
$T $ctz($T value) {
    const $U below = ($U)(~value & (value - ($U)1));
    return ($T)popcount(below);
}""",
    "sign": """
$T $sign($T value) {
    return ($T)((value > 0) - (value < 0));
}""",
    "trips": """
ulong $trips($T start, $T stop, $T step) {
    const ulong distance = step > 0 ? (ulong)stop - (ulong)start : (ulong)start - (ulong)stop;
    const ulong size = step > 0 ? (ulong)step : 0 - (ulong)step;
    const bool runs = step > 0 ? start < stop : step != 0 && start > stop;
    return runs ? (distance - 1) / size + 1 : 0;
}""",
    "to_odd_float": """
float $to_odd_float($T value) {
    const ulong size = value < 0 ? 0 - (ulong)value : (ulong)value;
    const ulong excess = size >> 24 != 0 ? 40 - clz(size) : 0;
    const ulong kept = size >> excess;
    const ulong odd = kept << excess != size ? kept | 1 : kept;
    const float magnitude = (float)odd * as_float((int)(127 + excess) << 23);
    return value < 0 ? -magnitude : magnitude;
}""",
}
# One comparison a choice: where units run side by side and masks are no registers of their own, the
# conditions of `&&` and `||` are packed and unpacked. Equal numbers differ in their signs at most.
_FLOAT: Mapping[str, str] = {
    "min": """
$T $min($T a, $T b) {
    const $T further = a < b ? a : b;
    const $T either = a == b ? as_$T(as_$S(a) | as_$S(b)) : further;
    return isnan(a) ? a : either;
}""",
    "max": """
$T $max($T a, $T b) {
    const $T further = a > b ? a : b;
    const $T either = a == b ? as_$T(as_$S(a) & as_$S(b)) : further;
    return isnan(a) ? a : either;
}""",
    "fmin": """
$T $fmin($T a, $T b) {
    const $T further = a < b ? a : b;
    const $T either = a == b ? as_$T(as_$S(a) | as_$S(b)) : further;
    return isnan(b) ? a : either;
}""",
    "fmax": """
$T $fmax($T a, $T b) {
    const $T further = a > b ? a : b;
    const $T either = a == b ? as_$T(as_$S(a) & as_$S(b)) : further;
    return isnan(b) ? a : either;
}""",
    "sign": """
$T $sign($T value) {
    return value < 0 || value > 0 ? copysign(($T)1, value) : value;
}""",
    # The vector library of Intel's compiler leaves |b| of a tiny multiple of it in place of 0.
    "fmod": """
$T $fmod($T a, $T b) {
    const $T rest = fmod(a, b);
    return fabs(rest) >= fabs(b) ? copysign(($T)0, a) : rest;
}""",
    "floor_mod": """
$T $floor_mod($T a, $T b) {
    const $T rest = $fmod(a, b);
    const $T moved = (b < 0) != (rest < 0) ? rest + b : rest;
    return rest != 0 ? moved : copysign(($T)0, b);
}""",
    "floor_div": """
$T $floor_div($T a, $T b) {
    const $T rest = $fmod(a, b), plain = a / b, whole = (a - rest) / b;
    const $T quotient = rest != 0 && (b < 0) != (rest < 0) ? whole - 1 : whole;
    const $T floored = floor(quotient);
    const $T nearest = quotient - floored > ($T)0.5 ? floored + 1 : floored;
    return b == 0 ? plain : quotient != 0 ? nearest : copysign(($T)0, plain);
}""",
    "divide": """
float $divide(float a, float b) {
    return (float)((double)a / (double)b);
}""",
    "square_root": """
float $square_root(float value) {
    return (float)sqrt((double)value);
}""",
}
_HALF: Mapping[str, Mapping[str, str]] = {
    "f16": {
        "widen": """
float $widen(ushort bits) {
    return vload_half(0, (const private half *)&bits);
}""",
        "narrow": """
ushort $narrow(float value) {
    ushort bits;
    vstore_half_rte(value, 0, (private half *)&bits);
    return bits;
}""",
    },
    "bf16": {
        "widen": """
float $widen(ushort bits) {
    return as_float((uint)bits << 16);
}""",
        "narrow": """
ushort $narrow(float value) {
    const uint bits = as_uint(value), upper = bits >> 16;
    return isnan(value) ? upper | 0x40 : (bits + (upper & 1) + 0x7fff) >> 16;
}""",
    },
}
# By integers, which compilers for processors vectorise: they take halves in memory one by one.
_HALF_BY_BITS: Mapping[str, str] = {
    "widen": """
float $widen(ushort bits) {
    const uint size = bits & 0x7fff, sign = (uint)(bits & 0x8000) << 16;
    const uint normal = (size << 13) + (size < 0x7c00 ? 0x38000000 : 0x70000000);
    return as_float((size < 0x400 ? as_uint((float)(int)size * 0x1p-24f) : normal) | sign);
}""",
    "narrow": """
ushort $narrow(float value) {
    const uint bits = as_uint(value), size = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    const uint small = (uint)(int)rint(as_float(min(size, 0x38800000u)) * 0x1p24f);
    const uint normal = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
    const uint large = size > 0x7f800000 ? size >> 13 & 0x3ff | 0x7e00 : 0x7c00;
    return sign | (size < 0x38800000 ? small : size < 0x47800000 ? normal : large);
}""",
}
_OTHER: Mapping[str, str] = {
    "odd_float": """
float $odd_float(double value) {
    const float near = (float)value;
    const double back = near;
    const int away = fabs(value) > fabs(back) ? 1 : -1, bits = as_int(near);
    return value < back || value > back ? as_float(bits & 1 ? bits : bits + away) : near;
}""",
    "quotient": """
int $quotient(int a, int b) {
    return a / b;
}""",
    "rest": """
int $rest(int a, int b) {
    return a % b;
}""",
    "quotient_by_doubles": """
int $quotient_by_doubles(int a, int b) {
    return (int)((double)a / (double)b);
}""",
    "rest_by_doubles": """
int $rest_by_doubles(int a, int b) {
    return a - $quotient_by_doubles(a, b) * b;
}""",
    "half_fma": """
double $half_fma(double a, double b, double c) {
    const double product = a * b, total = product + c, part = total - product;
    const double error = (product - (total - part)) + (c - part);
    const long bits = as_long(total), step = (error > 0) != (total > 0) ? -1 : 1;
    return (error < 0 || error > 0) && !(bits & 1) ? as_double(bits + step) : total;
}""",
}
_TO_INTEGER = """
$T $name($F value) {
    return isnan(value) ? 0 : value >= $high ? $most : value <= $low ? $least : ($T)value;
}"""

# To integers whose limits are floats of the type: numbers are moved between them first.
_TO_SMALL_INTEGER = """
$T $name($F value) {
    const $F above = value > $least ? value : $least;
    const $F inside = above < $most ? above : $most;
    return $converted;
}"""


class Prelude:
    """The helpers that a kernel needs so far, in the order they must be written."""

    def __init__(self, *, half_conversion: bool) -> None:
        """`half_conversion`: the device has instructions between f16 and f32."""
        self._texts: dict[str, str] = {}
        self._halves = _HALF if half_conversion else {**_HALF, "f16": _HALF_BY_BITS}

    @property
    def texts(self) -> tuple[str, ...]:
        """Their text."""
        return tuple(self._texts.values())

    def need(self, name: str, scalar: Scalar) -> str:
        """Have a helper for a type; the name of the function."""
        table = self._halves[scalar.name] if scalar.name in _HALF else _table(scalar)
        return self._add(name, table, scalar)

    def need_other(self, name: str) -> str:
        """Have a helper that is for one type only."""
        return self._add(name, _OTHER, F32)

    def need_conversion(self, source: Scalar, target: Scalar, limits: Mapping[str, str]) -> str:
        """Have the saturating conversion of a float to an integer."""
        name = f"{HELPER}{target}_of_{source}"
        words = {
            **limits, "name": name, "T": register_type(target), "F": register_type(source),
        }  # fmt: skip
        if target.bits < 32:
            words["converted"] = f"({words['T']})(int)inside"
            if target.is_signed:
                words["converted"] = f"isnan(value) ? ({words['T']})0 : {words['converted']}"
        text = _TO_SMALL_INTEGER if target.bits < 32 else _TO_INTEGER
        self._texts.setdefault(name, _filled(text, words))
        return name

    def add(self, name: str, text: str) -> str:
        """Have a function of the caller's making."""
        self._texts.setdefault(name, text)
        return name

    def _add(self, name: str, table: Mapping[str, str], scalar: Scalar) -> str:
        function = _function(name, scalar, table)
        if function not in self._texts:
            text = table[name]
            for other in table:
                if other != name and re.search(rf"\${other}\b", text):
                    self._add(other, table, scalar)
            names = {each: _function(each, scalar, table) for each in table}
            self._texts[function] = _filled(text, {**_words(scalar), **names})
        return function


def _table(scalar: Scalar) -> Mapping[str, str]:
    return _FLOAT if scalar.is_float else _INTEGER


def _function(name: str, scalar: Scalar, table: Mapping[str, str]) -> str:
    if table is _OTHER:
        return f"{HELPER}{name}"
    return f"{HELPER}{name}_{'i64' if scalar.name == 'index' else scalar.name}"


def _words(scalar: Scalar) -> Mapping[str, str]:
    signed = scalar.is_signed
    return {
        "T": register_type(scalar),
        "U": unsigned_type(scalar),
        "S": "long" if scalar.bits == 64 else "int",
        "M": "ulong" if scalar.bits == 64 else "uint",
        "bits": str(scalar.bits),
        "harmless": "b == 0 || b == -1 ? 1 : b" if signed else "b == 0 ? 1 : b",
        "negates": "b == -1" if signed else "false",
        "negates_base": "base == -1" if signed else "false",
    }


def _filled(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\$(\w+)", lambda found: words[found[1]], text).strip("\n")
