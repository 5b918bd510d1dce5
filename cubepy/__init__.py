"""Write a kernel once as a Python function; run it as SIMD machine code on any device.

::

    import cubepy as cb
    from cubepy import Array, f32

    @cb.cube
    def scale(x: Array[f32], factor: f32):
        i = cb.ABSOLUTE_POS
        x[i] = factor * x[i]

    scale.over(len(x))(x, 2.0)

`docs/language.md` says what kernels may contain, `cubepy.errors` holds every exception.
"""

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cubepy import errors
from cubepy.compiler import provide_library
from cubepy.cube import Cube, cube
from cubepy.frontend import (
    ABSOLUTE_POS,
    ABSOLUTE_POS_X,
    ABSOLUTE_POS_Y,
    ABSOLUTE_POS_Z,
    CUBE_COUNT,
    CUBE_COUNT_X,
    CUBE_COUNT_Y,
    CUBE_COUNT_Z,
    CUBE_DIM,
    CUBE_DIM_X,
    CUBE_DIM_Y,
    CUBE_DIM_Z,
    CUBE_POS,
    CUBE_POS_X,
    CUBE_POS_Y,
    CUBE_POS_Z,
    PLANE,
    PLANE_DIM,
    PLANE_POS,
    UNIT_POS,
    UNIT_POS_PLANE,
    UNIT_POS_X,
    UNIT_POS_Y,
    UNIT_POS_Z,
    Array,
    Comptime,
    Float,
    Int,
    Layout,
    Number,
    Tensor,
    UInt,
    Vector,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    atomic_add,
    atomic_and_,
    atomic_compare_exchange,
    atomic_exchange,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_or_,
    atomic_store,
    atomic_sub,
    atomic_xor,
    bf16,
    bit_reverse,
    bitcast,
    bool_,
    cast,
    cbrt,
    cdiv,
    ceil,
    clamp,
    clz,
    comptime,
    copysign,
    cos,
    cosh,
    ctz,
    cube_uniform,
    degrees,
    erf,
    erfc,
    exec_text,
    exp,
    exp2,
    expm1,
    f16,
    f32,
    f64,
    fence,
    find_first_set,
    flex32,
    floor,
    fma,
    fmax,
    fmin,
    fmod,
    frexp,
    hypot,
    i8,
    i16,
    i32,
    i64,
    index,
    insert,
    intrinsic,
    isfinite,
    isinf,
    isnan,
    ldexp,
    ln,
    local_array,
    log,
    log1p,
    log2,
    log10,
    mul_hi,
    plane_all,
    plane_any,
    plane_ballot,
    plane_broadcast,
    plane_elect,
    plane_exclusive_prod,
    plane_exclusive_sum,
    plane_inclusive_prod,
    plane_inclusive_sum,
    plane_max,
    plane_min,
    plane_prod,
    plane_shuffle,
    plane_shuffle_down,
    plane_shuffle_up,
    plane_shuffle_xor,
    plane_sum,
    popcount,
    radians,
    recip,
    rotl,
    rotr,
    rsqrt,
    saturating_add,
    saturating_sub,
    select,
    shared,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    static_assert,
    static_print,
    struct,
    sync_cube,
    sync_plane,
    sync_storage,
    tan,
    tanh,
    trunc,
    trunc_div,
    trunc_rem,
    u8,
    u16,
    u32,
    u64,
    unroll,
    vector,
)

# Reached as cb.min and so on; a star import leaves Python's own alone.
from cubepy.frontend import abs as abs
from cubepy.frontend import max as max
from cubepy.frontend import min as min
from cubepy.frontend import pow as pow
from cubepy.frontend import round as round
from cubepy.ir import Scalar
from cubepy.runtime import (
    Buffer,
    Device,
    Event,
    Recording,
    Stream,
    capture,
    default_device,
    device,
    num_threads,
    set_default_device,
    set_num_threads,
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
    "PLANE",
    "PLANE_DIM",
    "PLANE_POS",
    "UNIT_POS",
    "UNIT_POS_PLANE",
    "UNIT_POS_X",
    "UNIT_POS_Y",
    "UNIT_POS_Z",
    "Array",
    "Buffer",
    "Comptime",
    "Cube",
    "Device",
    "Event",
    "FastDivmod",
    "Float",
    "Int",
    "Layout",
    "Number",
    "Readback",
    "Recording",
    "Stream",
    "Tensor",
    "UInt",
    "Vector",
    "acos",
    "acosh",
    "argmax",
    "argmin",
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
    "bf16",
    "bit_reverse",
    "bitcast",
    "bool_",
    "capture",
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
    "cube",
    "cube_uniform",
    "default_device",
    "degrees",
    "device",
    "dot",
    "e2m1",
    "e2m3",
    "e3m2",
    "e4m3",
    "e5m2",
    "erf",
    "erfc",
    "errors",
    "exp",
    "exp2",
    "expm1",
    "f16",
    "f32",
    "f64",
    "fence",
    "find_first_set",
    "flex32",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "hypot",
    "i8",
    "i16",
    "i32",
    "i64",
    "index",
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
    "magnitude",
    "mul_hi",
    "normalize",
    "num_threads",
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
    "profile",
    "radians",
    "recip",
    "rotl",
    "rotr",
    "rsqrt",
    "saturating_add",
    "saturating_sub",
    "select",
    "set_default_device",
    "set_num_threads",
    "shared",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "static_assert",
    "static_print",
    "struct",
    "sync_cube",
    "sync_plane",
    "sync_storage",
    "tan",
    "tanh",
    "tf32",
    "trunc",
    "trunc_div",
    "trunc_rem",
    "u8",
    "u16",
    "u32",
    "u64",
    "ue8m0",
    "unroll",
    "vector",
]

exec = exec_text

# What there is beside ops, and where; it is loaded when somebody first needs it.
_LIBRARY = {
    "Readback": "cubepy.runtime",
    **dict.fromkeys(("dot", "magnitude", "normalize"), "cubepy.std.vectors"),
    **dict.fromkeys(("argmax", "argmin"), "cubepy.std.extremes"),
    "FastDivmod": "cubepy.std.division",
    **dict.fromkeys(
        ("e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "tf32", "ue8m0"), "cubepy.std.minifloats"
    ),
}

if TYPE_CHECKING:
    from cubepy.profiling import profile
    from cubepy.runtime import Readback
    from cubepy.std.division import FastDivmod
    from cubepy.std.extremes import argmax, argmin
    from cubepy.std.minifloats import e2m1, e2m3, e3m2, e4m3, e5m2, tf32, ue8m0
    from cubepy.std.vectors import dot, magnitude, normalize
else:

    def __getattr__(name: str) -> Any:
        if name == "debug":  # for people, who are seldom in a hurry
            return import_module("cubepy.debug")
        if name == "profile":
            return import_module("cubepy.profiling").profile
        if name in _LIBRARY:
            return getattr(import_module(_LIBRARY[name]), name)
        if name == "__version__":
            return import_module("importlib.metadata").version(__name__)
        # with these Python says which name may have been meant
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}", name=name, obj=import_module(__name__)
        )


# The runtime of the CPU comes along: nearly every program launches there, and should not wait for
# it then. Where it cannot be imported, the first launch says why.
with suppress(ImportError, OSError):
    import_module("cubepy_cpu")


def __dir__() -> list[str]:
    """What users write; a module shows its imports otherwise."""
    return sorted(
        {*__all__, *_LIBRARY, "debug", "profile", "abs", "exec", "max", "min", "pow", "round"}
    )


def _definition(name: str, type: Scalar) -> Any:
    """The device library's definition of an op; loaded when a kernel first needs one."""
    return import_module("cubepy.std").definition(name, type)


provide_library(_definition)
