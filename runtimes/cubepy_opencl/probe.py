"""What an OpenCL device can do, found by trying: what it announces are hints.

One small program is built and run when a device is first asked for its features. It divides, takes
roots and fused products, meets denormals and the rewrites that compilers must not make, and sees
whether sub-groups follow the order of the units and exchange values. The answers are kept in the
disk store under the driver's version.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyopencl as cl

from cubepy.cache import key_of, store
from cubepy.errors import BackendError
from cubepy.runtime import FLOAT_RESULTS, float_findings, float_operands
from cubepy.target import Features
from cubepy_opencl.driver import explained, program_of

__all__ = ["announced", "build_options", "features_of_device", "probed"]

logger = logging.getLogger("cubepy.opencl")

Array = np.ndarray[Any, Any]
_SCALARS = "bool i8 i16 i32 i64 u8 u16 u32 u64 index f16 bf16 f32"
_SUBGROUPS = " __attribute__((intel_reqd_sub_group_size({})))"
_VERSION = "2"
_SIZES = (8, 16, 32, 64)
# Units of a cube on a processor, where streams of bytes took a quarter longer with 256 than with
# 1024, and with those up to a tenth longer than with so many.
_LONG_CUBE = 8192

_FLOATS = """
#pragma OPENCL FP_CONTRACT OFF
kernel void floats(global const float *a, global const float *b, global float *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = a[i], y = b[i];
    out[i] = x / y;
    out[n + i] = sqrt(fabs(x));
    out[2 * n + i] = fma(x, y, -x);
    out[3 * n + i] = x * 0.5f;
    out[4 * n + i] = (x + y) - x;
    out[5 * n + i] = x * 0.0f;
    out[6 * n + i] = x - x;
    out[7 * n + i] = x * 3.0f * 5.0f;
    out[8 * n + i] = x * y + x;
    out[9 * n + i] = x + 0.0f;
    out[10 * n + i] = x / x;
    out[11 * n + i] = isnan(x) ? 1.0f : x != x ? 2.0f : 0.0f;
}
"""
_PLANES = """
kernel __attribute__((reqd_work_group_size(PLANE * 3, 1, 1))) ATTRIBUTE
void planes(global uint *out) {
    uint unit = get_local_id(0), own = get_sub_group_local_id();
    bool right = get_sub_group_size() == PLANE && get_sub_group_id() == unit / PLANE
        && own == unit % PLANE;
    right = right && SHUFFLE(unit, own ^ 1u) == (unit ^ 1u);
    right = right && SHUFFLE((ulong)unit << 40, 2u) == (ulong)(unit - own + 2) << 40;
    right = right && sub_group_any(unit == 5) == (unit / PLANE == 5 / PLANE);
    out[unit] = right;
}
"""


def build_options(device: Any) -> str:
    """The newest dialect of OpenCL C that the device has; all groups of a launch are whole."""
    version = _c_version(device)
    dialect = "-cl-std=CL3.0" if version >= (3, 0) else "-cl-std=CL2.0" if version >= (2, 0) else ""
    whole = "-cl-uniform-work-group-size" if dialect else ""
    exact = device.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
    divides = "-cl-fp32-correctly-rounded-divide-sqrt" if exact else ""
    return " ".join(filter(None, (dialect, whole, divides)))


def _c_version(device: Any) -> tuple[int, int]:
    words = str(device.opencl_c_version).split()
    major, _, minor = words[2].partition(".")
    return int(major), int(minor or 0)


# Extensions that a kernel's features depend on.
_EXTENSIONS = re.compile(r"cl_(khr_(int64|subgroup|fp16|fp64)|intel_(required_)?subgroup)\w*")


def announced(device: Any) -> dict[str, object]:
    """What the driver says of the device, for people."""
    extensions = sorted(set(filter(_EXTENSIONS.fullmatch, str(device.extensions).split())))
    exact = device.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
    return {
        "driver": device.driver_version,
        "language": device.opencl_c_version.strip(),
        "compute units": device.max_compute_units,
        "local memory": device.local_mem_size,
        "f64": bool(device.double_fp_config),
        "exact division": bool(exact),
        "denormals": bool(device.single_fp_config & cl.device_fp_config.DENORM),
        "extensions": extensions,
    }


def probed(context: Any, device: Any) -> dict[str, Any]:
    """What trying found out, once a driver's version."""
    platform = device.platform
    parts = [
        ("probe", _VERSION.encode() + (_FLOATS + _PLANES).encode()),
        ("driver", f"{platform.name} {platform.version} {device.driver_version}".encode()),
        ("device", f"{device.name} {device.version} {device.extensions}".encode()),
    ]
    key = key_of(parts, f"probe of {device.name}")
    made: dict[str, Any] = json.loads(store().get_or_make(key, lambda: _tried(context, device)))
    return made


def features_of_device(context: Any, device: Any) -> Features:
    """The features, from what was tried where that can be."""
    found = probed(context, device)
    extensions = set(str(device.extensions).split())
    double = bool(device.double_fp_config)
    processor = bool(device.type & cl.device_type.CPU)
    atomics = {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"}
    return Features(
        plane_dim=found["plane_dim"],
        max_cube_units=device.max_work_group_size,
        shared_bytes=device.local_mem_size,
        types=frozenset([*_SCALARS.split(), *(["f64"] if double else [])]),
        fma=found["fma"],
        exact_division=found["division"],
        half_conversion=not processor,
        shuffle=found["shuffle"],
        plane_attribute=_SUBGROUPS,
        plane_sizes=frozenset(found["plane_sizes"]),
        atomics_64="cl_khr_int64_base_atomics" in extensions,
        extended_atomics_64=atomics <= extensions,
        memory_orders=_c_version(device) >= (2, 0),
        abreast=_abreast(device, found["plane_sizes"]),
        divides_by_doubles=processor and double,
        long_cube=_LONG_CUBE if processor else 0,
    )


def _abreast(device: Any, sizes: list[int]) -> int:
    """On processors the largest size within four registers of f32 a value; GPUs know better."""
    if not device.type & cl.device_type.CPU:
        return 0
    most = 4 * max(8, int(device.native_vector_width_float))
    return max((size for size in sizes if size <= most), default=0)


def _tried(context: Any, device: Any) -> bytes:
    queue = cl.CommandQueue(context)
    found: dict[str, object] = dict(_floats(context, device, queue))
    for what in ("denormals", "strict"):
        if not found[what]:
            logger.warning("%s: arithmetic of f32 is not exact (%s)", device.name, what)
    found |= _planes(context, device, queue)
    return json.dumps(found, sort_keys=True).encode()


def _run(context: Any, queue: Any, kernel: Any, size: int, inputs: list[Array], out: Array) -> None:
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    memories = [cl.Buffer(context, flags, hostbuf=each) for each in (*inputs, out)]
    for number, memory in enumerate(memories):
        kernel.set_arg(number, memory)
    cl.enqueue_nd_range_kernel(queue, kernel, (size,), None)
    cl.enqueue_copy(queue, out, memories[-1])


# ── arithmetic ──────────────────────────────────────────────────────────────────────────────────


def _floats(context: Any, device: Any, queue: Any) -> Mapping[str, bool]:
    a, b = float_operands()
    with explained(f"the probe of {device.name}"):
        program = program_of(context, device, _FLOATS, build_options(device))
        out = np.zeros((FLOAT_RESULTS, a.size), np.float32)
        _run(context, queue, cl.Kernel(program, "floats"), a.size, [a, b], out)
    return float_findings(a, b, out)


# ── planes ──────────────────────────────────────────────────────────────────────────────────────


def _planes(context: Any, device: Any, queue: Any) -> dict[str, object]:
    """The sizes of sub-groups that are what planes must be; planes have a register's width, or one
    unit where there are none.
    """
    extensions = set(str(device.extensions).split())
    shuffles = {
        "sub_group_shuffle": "cl_khr_subgroup_shuffle",
        "intel_sub_group_shuffle": "cl_intel_subgroups",
    }
    shuffle = next((name for name, needed in shuffles.items() if needed in extensions), "")
    if shuffle and "cl_intel_required_subgroup_size" in extensions:
        width = max(8, int(device.native_vector_width_float))
        right = [s for s in _SIZES if _planes_right(context, device, queue, s, shuffle)]
        if right:
            plane = width if width in right else right[0]
            return {"plane_dim": plane, "plane_sizes": right, "shuffle": shuffle}
    return {"plane_dim": 1, "plane_sizes": [], "shuffle": ""}


def _planes_right(context: Any, device: Any, queue: Any, plane: int, shuffle: str) -> bool:
    text = _PLANES.replace("PLANE", str(plane)).replace("SHUFFLE", shuffle)
    text = text.replace("ATTRIBUTE", _SUBGROUPS.format(plane))
    try:
        program = program_of(context, device, text, build_options(device))
    except BackendError:
        return False
    out = np.zeros(plane * 3, np.uint32)
    _run(context, queue, cl.Kernel(program, "planes"), out.size, [], out)
    return bool(out.all())
