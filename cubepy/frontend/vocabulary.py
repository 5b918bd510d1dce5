"""Every name a kernel may use from `cubepy` besides types: positions and functions, one line each.

What a function does stands in its row of the op table or in `intrinsics.py`; here are only the
names that users import. `INTRINSICS` has all functions by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cubepy.frontend.lang import Intrinsic, PlaneSize, position
from cubepy.frontend.lang import intrinsic as function
from cubepy.frontend.scalars import index

if TYPE_CHECKING:
    from cubepy.frontend.function_types import (
        Atomic,
        AtomicExchange,
        AtomicLoad,
        Binary,
        Cast,
        Comptime,
        Elect,
        Extreme,
        Frexp,
        Lane,
        Memory,
        Reduction,
        Same,
        Select,
        Statement,
        Ternary,
        Test,
        Unary,
        Unroll,
        Vote,
    )

__all__ = [
    "ABSOLUTE_POS",
    "ABSOLUTE_POS_X",
    "ABSOLUTE_POS_Y",
    "ABSOLUTE_POS_Z",
    "CUBE_COUNT",
    "CUBE_COUNT_X",
    "CUBE_COUNT_Y",
    "CUBE_COUNT_Z",
    "CUBE_DIM",
    "CUBE_DIM_X",
    "CUBE_DIM_Y",
    "CUBE_DIM_Z",
    "CUBE_POS",
    "CUBE_POS_X",
    "CUBE_POS_Y",
    "CUBE_POS_Z",
    "INTRINSICS",
    "PLANE",
    "PLANE_DIM",
    "PLANE_POS",
    "UNIT_POS",
    "UNIT_POS_PLANE",
    "UNIT_POS_X",
    "UNIT_POS_Y",
    "UNIT_POS_Z",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "atomic_add",
    "atomic_and_",
    "atomic_compare_exchange",
    "atomic_exchange",
    "atomic_load",
    "atomic_max",
    "atomic_min",
    "atomic_or_",
    "atomic_store",
    "atomic_sub",
    "atomic_xor",
    "bit_reverse",
    "bitcast",
    "cast",
    "cbrt",
    "cdiv",
    "ceil",
    "clamp",
    "clz",
    "comptime",
    "copysign",
    "cos",
    "cosh",
    "ctz",
    "cube_uniform",
    "degrees",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fence",
    "find_first_set",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "hypot",
    "insert",
    "intrinsic",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "ln",
    "local_array",
    "log",
    "log1p",
    "log2",
    "log10",
    "max",
    "min",
    "mul_hi",
    "plane_all",
    "plane_any",
    "plane_ballot",
    "plane_broadcast",
    "plane_elect",
    "plane_exclusive_prod",
    "plane_exclusive_sum",
    "plane_inclusive_prod",
    "plane_inclusive_sum",
    "plane_max",
    "plane_min",
    "plane_prod",
    "plane_shuffle",
    "plane_shuffle_down",
    "plane_shuffle_up",
    "plane_shuffle_xor",
    "plane_sum",
    "popcount",
    "pow",
    "radians",
    "recip",
    "rotl",
    "rotr",
    "round",
    "rsqrt",
    "saturating_add",
    "saturating_sub",
    "select",
    "shared",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "static_assert",
    "static_print",
    "sync_cube",
    "sync_plane",
    "sync_storage",
    "tan",
    "tanh",
    "trunc",
    "trunc_div",
    "trunc_rem",
    "unroll",
    "vector",
]

#: As an extent of `cube_dim`: the device's plane size.
PLANE: Final = PlaneSize()

UNIT_POS: index = position("UNIT_POS")
UNIT_POS_X: index = position("UNIT_POS_X")
UNIT_POS_Y: index = position("UNIT_POS_Y")
UNIT_POS_Z: index = position("UNIT_POS_Z")
UNIT_POS_PLANE: index = position("UNIT_POS_PLANE")
PLANE_POS: index = position("PLANE_POS")
PLANE_DIM: index = position("PLANE_DIM")
CUBE_POS: index = position("CUBE_POS")
CUBE_POS_X: index = position("CUBE_POS_X")
CUBE_POS_Y: index = position("CUBE_POS_Y")
CUBE_POS_Z: index = position("CUBE_POS_Z")
CUBE_COUNT: index = position("CUBE_COUNT")
CUBE_COUNT_X: index = position("CUBE_COUNT_X")
CUBE_COUNT_Y: index = position("CUBE_COUNT_Y")
CUBE_COUNT_Z: index = position("CUBE_COUNT_Z")
CUBE_DIM: index = position("CUBE_DIM")
CUBE_DIM_X: index = position("CUBE_DIM_X")
CUBE_DIM_Y: index = position("CUBE_DIM_Y")
CUBE_DIM_Z: index = position("CUBE_DIM_Z")
ABSOLUTE_POS: index = position("ABSOLUTE_POS")
ABSOLUTE_POS_X: index = position("ABSOLUTE_POS_X")
ABSOLUTE_POS_Y: index = position("ABSOLUTE_POS_Y")
ABSOLUTE_POS_Z: index = position("ABSOLUTE_POS_Z")

erf: Unary = function("erf")
erfc: Unary = function("erfc")
exp: Unary = function("exp")
exp2: Unary = function("exp2")
expm1: Unary = function("expm1")
log: Unary = function("log")
log2: Unary = function("log2")
log10: Unary = function("log10")
log1p: Unary = function("log1p")
sin: Unary = function("sin")
cos: Unary = function("cos")
tan: Unary = function("tan")
asin: Unary = function("asin")
acos: Unary = function("acos")
atan: Unary = function("atan")
atan2: Binary = function("atan2")
sinh: Unary = function("sinh")
cosh: Unary = function("cosh")
asinh: Unary = function("asinh")
acosh: Unary = function("acosh")
atanh: Unary = function("atanh")
sigmoid: Unary = function("sigmoid")
cbrt: Unary = function("cbrt")
hypot: Binary = function("hypot")
frexp: Frexp = function("frexp")
ldexp: Binary = function("ldexp")
ln: Unary = function("ln")
abs: Unary = function("abs")
max: Extreme = function("max")
min: Extreme = function("min")
round: Unary = function("round")
tanh: Unary = function("tanh")
pow: Binary = function("pow")
sqrt: Unary = function("sqrt")
rsqrt: Unary = function("rsqrt")
recip: Unary = function("recip")
floor: Unary = function("floor")
ceil: Unary = function("ceil")
trunc: Unary = function("trunc")
copysign: Binary = function("copysign")
sign: Unary = function("sign")
fma: Ternary = function("fma")
fmin: Binary = function("fmin")
fmax: Binary = function("fmax")
fmod: Binary = function("fmod")
clamp: Ternary = function("clamp")
isnan: Test = function("isnan")
isinf: Test = function("isinf")
isfinite: Test = function("isfinite")
intrinsic: Any = function("intrinsic")
select: Select = function("select")
degrees: Unary = function("degrees")
radians: Unary = function("radians")
mul_hi: Binary = function("mul_hi")
popcount: Unary = function("popcount")
clz: Unary = function("clz")
ctz: Unary = function("ctz")
trunc_div: Binary = function("trunc_div")
trunc_rem: Binary = function("trunc_rem")
cdiv: Binary = function("cdiv")
rotl: Binary = function("rotl")
rotr: Binary = function("rotr")
bit_reverse: Unary = function("bit_reverse")
find_first_set: Unary = function("find_first_set")
saturating_add: Binary = function("saturating_add")
saturating_sub: Binary = function("saturating_sub")
cast: Cast = function("cast")
bitcast: Cast = function("bitcast")
vector: Any = function("vector")
insert: Any = function("insert")
comptime: Comptime = function("comptime")
unroll: Unroll = function("unroll")
shared: Memory = function("shared")
local_array: Memory = function("local_array")
sync_cube: Statement = function("sync_cube")
sync_plane: Statement = function("sync_plane")
sync_storage: Statement = function("sync_storage")
fence: Statement = function("fence")
cube_uniform: Same = function("cube_uniform")
static_assert: Statement = function("static_assert")
static_print: Statement = function("static_print")
atomic_add: Atomic = function("atomic_add")
atomic_sub: Atomic = function("atomic_sub")
atomic_min: Atomic = function("atomic_min")
atomic_max: Atomic = function("atomic_max")
atomic_and_: Atomic = function("atomic_and_")
atomic_or_: Atomic = function("atomic_or_")
atomic_xor: Atomic = function("atomic_xor")
atomic_exchange: Atomic = function("atomic_exchange")
atomic_compare_exchange: AtomicExchange = function("atomic_compare_exchange")
atomic_load: AtomicLoad = function("atomic_load")
atomic_store: Atomic = function("atomic_store")
plane_sum: Reduction = function("plane_sum")
plane_prod: Reduction = function("plane_prod")
plane_min: Reduction = function("plane_min")
plane_max: Reduction = function("plane_max")
plane_inclusive_sum: Reduction = function("plane_inclusive_sum")
plane_exclusive_sum: Reduction = function("plane_exclusive_sum")
plane_inclusive_prod: Reduction = function("plane_inclusive_prod")
plane_exclusive_prod: Reduction = function("plane_exclusive_prod")
plane_broadcast: Lane = function("plane_broadcast")
plane_shuffle: Lane = function("plane_shuffle")
plane_shuffle_xor: Lane = function("plane_shuffle_xor")
plane_shuffle_up: Lane = function("plane_shuffle_up")
plane_shuffle_down: Lane = function("plane_shuffle_down")
plane_all: Vote = function("plane_all")
plane_any: Vote = function("plane_any")
plane_ballot: Vote = function("plane_ballot")
plane_elect: Elect = function("plane_elect")

#: All functions by name.
INTRINSICS: Final[dict[str, Intrinsic]] = {
    value.name: value for value in tuple(globals().values()) if isinstance(value, Intrinsic)
}
