"""Every name a kernel may use from `cubepy` besides types: positions and functions, one line each.

What a function does stands in its row of the op table or in `intrinsics.py`; here are only the
names that users import. `INTRINSICS` has all functions by name.
"""

from __future__ import annotations

from typing import Any, Final

from cubepy.frontend.lang import POSITIONS, Intrinsic, PlaneSize
from cubepy.frontend.lang import intrinsic as function
from cubepy.frontend.scalars import index

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

UNIT_POS: index = POSITIONS["UNIT_POS"]
UNIT_POS_X: index = POSITIONS["UNIT_POS_X"]
UNIT_POS_Y: index = POSITIONS["UNIT_POS_Y"]
UNIT_POS_Z: index = POSITIONS["UNIT_POS_Z"]
UNIT_POS_PLANE: index = POSITIONS["UNIT_POS_PLANE"]
PLANE_POS: index = POSITIONS["PLANE_POS"]
PLANE_DIM: index = POSITIONS["PLANE_DIM"]
CUBE_POS: index = POSITIONS["CUBE_POS"]
CUBE_POS_X: index = POSITIONS["CUBE_POS_X"]
CUBE_POS_Y: index = POSITIONS["CUBE_POS_Y"]
CUBE_POS_Z: index = POSITIONS["CUBE_POS_Z"]
CUBE_COUNT: index = POSITIONS["CUBE_COUNT"]
CUBE_COUNT_X: index = POSITIONS["CUBE_COUNT_X"]
CUBE_COUNT_Y: index = POSITIONS["CUBE_COUNT_Y"]
CUBE_COUNT_Z: index = POSITIONS["CUBE_COUNT_Z"]
CUBE_DIM: index = POSITIONS["CUBE_DIM"]
CUBE_DIM_X: index = POSITIONS["CUBE_DIM_X"]
CUBE_DIM_Y: index = POSITIONS["CUBE_DIM_Y"]
CUBE_DIM_Z: index = POSITIONS["CUBE_DIM_Z"]
ABSOLUTE_POS: index = POSITIONS["ABSOLUTE_POS"]
ABSOLUTE_POS_X: index = POSITIONS["ABSOLUTE_POS_X"]
ABSOLUTE_POS_Y: index = POSITIONS["ABSOLUTE_POS_Y"]
ABSOLUTE_POS_Z: index = POSITIONS["ABSOLUTE_POS_Z"]

erf: Any = function("erf")
erfc: Any = function("erfc")
exp: Any = function("exp")
exp2: Any = function("exp2")
expm1: Any = function("expm1")
log: Any = function("log")
log2: Any = function("log2")
log10: Any = function("log10")
log1p: Any = function("log1p")
sin: Any = function("sin")
cos: Any = function("cos")
tan: Any = function("tan")
asin: Any = function("asin")
acos: Any = function("acos")
atan: Any = function("atan")
atan2: Any = function("atan2")
sinh: Any = function("sinh")
cosh: Any = function("cosh")
asinh: Any = function("asinh")
acosh: Any = function("acosh")
atanh: Any = function("atanh")
sigmoid: Any = function("sigmoid")
cbrt: Any = function("cbrt")
hypot: Any = function("hypot")
frexp: Any = function("frexp")
ldexp: Any = function("ldexp")
ln: Any = function("ln")
abs: Any = function("abs")
max: Any = function("max")
min: Any = function("min")
round: Any = function("round")
tanh: Any = function("tanh")
pow: Any = function("pow")
sqrt: Any = function("sqrt")
rsqrt: Any = function("rsqrt")
recip: Any = function("recip")
floor: Any = function("floor")
ceil: Any = function("ceil")
trunc: Any = function("trunc")
copysign: Any = function("copysign")
sign: Any = function("sign")
fma: Any = function("fma")
fmin: Any = function("fmin")
fmax: Any = function("fmax")
fmod: Any = function("fmod")
clamp: Any = function("clamp")
isnan: Any = function("isnan")
isinf: Any = function("isinf")
isfinite: Any = function("isfinite")
intrinsic: Any = function("intrinsic")
select: Any = function("select")
degrees: Any = function("degrees")
radians: Any = function("radians")
mul_hi: Any = function("mul_hi")
popcount: Any = function("popcount")
clz: Any = function("clz")
ctz: Any = function("ctz")
trunc_div: Any = function("trunc_div")
trunc_rem: Any = function("trunc_rem")
cdiv: Any = function("cdiv")
rotl: Any = function("rotl")
rotr: Any = function("rotr")
bit_reverse: Any = function("bit_reverse")
find_first_set: Any = function("find_first_set")
saturating_add: Any = function("saturating_add")
saturating_sub: Any = function("saturating_sub")
cast: Any = function("cast")
bitcast: Any = function("bitcast")
vector: Any = function("vector")
insert: Any = function("insert")
comptime: Any = function("comptime")
unroll: Any = function("unroll")
shared: Any = function("shared")
local_array: Any = function("local_array")
sync_cube: Any = function("sync_cube")
sync_plane: Any = function("sync_plane")
sync_storage: Any = function("sync_storage")
fence: Any = function("fence")
cube_uniform: Any = function("cube_uniform")
static_assert: Any = function("static_assert")
static_print: Any = function("static_print")
atomic_add: Any = function("atomic_add")
atomic_sub: Any = function("atomic_sub")
atomic_min: Any = function("atomic_min")
atomic_max: Any = function("atomic_max")
atomic_and_: Any = function("atomic_and_")
atomic_or_: Any = function("atomic_or_")
atomic_xor: Any = function("atomic_xor")
atomic_exchange: Any = function("atomic_exchange")
atomic_compare_exchange: Any = function("atomic_compare_exchange")
atomic_load: Any = function("atomic_load")
atomic_store: Any = function("atomic_store")
plane_sum: Any = function("plane_sum")
plane_prod: Any = function("plane_prod")
plane_min: Any = function("plane_min")
plane_max: Any = function("plane_max")
plane_inclusive_sum: Any = function("plane_inclusive_sum")
plane_exclusive_sum: Any = function("plane_exclusive_sum")
plane_inclusive_prod: Any = function("plane_inclusive_prod")
plane_exclusive_prod: Any = function("plane_exclusive_prod")
plane_broadcast: Any = function("plane_broadcast")
plane_shuffle: Any = function("plane_shuffle")
plane_shuffle_xor: Any = function("plane_shuffle_xor")
plane_shuffle_up: Any = function("plane_shuffle_up")
plane_shuffle_down: Any = function("plane_shuffle_down")
plane_all: Any = function("plane_all")
plane_any: Any = function("plane_any")
plane_ballot: Any = function("plane_ballot")
plane_elect: Any = function("plane_elect")

#: All functions by name.
INTRINSICS: Final[dict[str, Intrinsic]] = {
    value.name: value for value in tuple(globals().values()) if isinstance(value, Intrinsic)
}
