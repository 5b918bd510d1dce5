"""Every name a kernel may use from `cubepy` besides types: positions and functions, one line each.

What a function does stands in its row of the op table or in `intrinsics.py`; here are only the
names that users import. `INTRINSICS` has all functions by name.
"""

from __future__ import annotations

from typing import Any, Final

from cubepy.frontend.lang import POSITIONS, Intrinsic, PlaneSize, intrinsic
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

erf: Any = intrinsic("erf")
erfc: Any = intrinsic("erfc")
exp: Any = intrinsic("exp")
exp2: Any = intrinsic("exp2")
expm1: Any = intrinsic("expm1")
log: Any = intrinsic("log")
log2: Any = intrinsic("log2")
log10: Any = intrinsic("log10")
log1p: Any = intrinsic("log1p")
sin: Any = intrinsic("sin")
cos: Any = intrinsic("cos")
tan: Any = intrinsic("tan")
asin: Any = intrinsic("asin")
acos: Any = intrinsic("acos")
atan: Any = intrinsic("atan")
atan2: Any = intrinsic("atan2")
sinh: Any = intrinsic("sinh")
cosh: Any = intrinsic("cosh")
asinh: Any = intrinsic("asinh")
acosh: Any = intrinsic("acosh")
atanh: Any = intrinsic("atanh")
sigmoid: Any = intrinsic("sigmoid")
cbrt: Any = intrinsic("cbrt")
hypot: Any = intrinsic("hypot")
frexp: Any = intrinsic("frexp")
ldexp: Any = intrinsic("ldexp")
ln: Any = intrinsic("ln")
abs: Any = intrinsic("abs")
max: Any = intrinsic("max")
min: Any = intrinsic("min")
round: Any = intrinsic("round")
tanh: Any = intrinsic("tanh")
pow: Any = intrinsic("pow")
sqrt: Any = intrinsic("sqrt")
rsqrt: Any = intrinsic("rsqrt")
recip: Any = intrinsic("recip")
floor: Any = intrinsic("floor")
ceil: Any = intrinsic("ceil")
trunc: Any = intrinsic("trunc")
copysign: Any = intrinsic("copysign")
sign: Any = intrinsic("sign")
fma: Any = intrinsic("fma")
fmin: Any = intrinsic("fmin")
fmax: Any = intrinsic("fmax")
fmod: Any = intrinsic("fmod")
clamp: Any = intrinsic("clamp")
isnan: Any = intrinsic("isnan")
isinf: Any = intrinsic("isinf")
isfinite: Any = intrinsic("isfinite")
select: Any = intrinsic("select")
degrees: Any = intrinsic("degrees")
radians: Any = intrinsic("radians")
mul_hi: Any = intrinsic("mul_hi")
popcount: Any = intrinsic("popcount")
clz: Any = intrinsic("clz")
ctz: Any = intrinsic("ctz")
trunc_div: Any = intrinsic("trunc_div")
trunc_rem: Any = intrinsic("trunc_rem")
cdiv: Any = intrinsic("cdiv")
rotl: Any = intrinsic("rotl")
rotr: Any = intrinsic("rotr")
bit_reverse: Any = intrinsic("bit_reverse")
find_first_set: Any = intrinsic("find_first_set")
saturating_add: Any = intrinsic("saturating_add")
saturating_sub: Any = intrinsic("saturating_sub")
cast: Any = intrinsic("cast")
bitcast: Any = intrinsic("bitcast")
vector: Any = intrinsic("vector")
insert: Any = intrinsic("insert")
comptime: Any = intrinsic("comptime")
unroll: Any = intrinsic("unroll")
shared: Any = intrinsic("shared")
local_array: Any = intrinsic("local_array")
sync_cube: Any = intrinsic("sync_cube")
sync_plane: Any = intrinsic("sync_plane")
sync_storage: Any = intrinsic("sync_storage")
fence: Any = intrinsic("fence")
cube_uniform: Any = intrinsic("cube_uniform")
static_assert: Any = intrinsic("static_assert")
static_print: Any = intrinsic("static_print")
atomic_add: Any = intrinsic("atomic_add")
atomic_sub: Any = intrinsic("atomic_sub")
atomic_min: Any = intrinsic("atomic_min")
atomic_max: Any = intrinsic("atomic_max")
atomic_and_: Any = intrinsic("atomic_and_")
atomic_or_: Any = intrinsic("atomic_or_")
atomic_xor: Any = intrinsic("atomic_xor")
atomic_exchange: Any = intrinsic("atomic_exchange")
atomic_compare_exchange: Any = intrinsic("atomic_compare_exchange")
atomic_load: Any = intrinsic("atomic_load")
atomic_store: Any = intrinsic("atomic_store")
plane_sum: Any = intrinsic("plane_sum")
plane_prod: Any = intrinsic("plane_prod")
plane_min: Any = intrinsic("plane_min")
plane_max: Any = intrinsic("plane_max")
plane_inclusive_sum: Any = intrinsic("plane_inclusive_sum")
plane_exclusive_sum: Any = intrinsic("plane_exclusive_sum")
plane_inclusive_prod: Any = intrinsic("plane_inclusive_prod")
plane_exclusive_prod: Any = intrinsic("plane_exclusive_prod")
plane_broadcast: Any = intrinsic("plane_broadcast")
plane_shuffle: Any = intrinsic("plane_shuffle")
plane_shuffle_xor: Any = intrinsic("plane_shuffle_xor")
plane_shuffle_up: Any = intrinsic("plane_shuffle_up")
plane_shuffle_down: Any = intrinsic("plane_shuffle_down")
plane_all: Any = intrinsic("plane_all")
plane_any: Any = intrinsic("plane_any")
plane_ballot: Any = intrinsic("plane_ballot")
plane_elect: Any = intrinsic("plane_elect")

#: All functions by name.
INTRINSICS: Final[dict[str, Intrinsic]] = {
    value.name: value for value in tuple(globals().values()) if isinstance(value, Intrinsic)
}
