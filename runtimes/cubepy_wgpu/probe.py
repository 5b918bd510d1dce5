"""What a wgpu device can do, found by trying: what it announces are hints.

Small kernels are built and run when a device is first asked for its features. One divides, takes
roots and fused products, meets denormals and the rewrites that compilers must not make; one does
the same with f64, if there is that; one sees whether subgroups have one size and follow the order
of the units. `atomics_probe.py` and `halves_probe.py` have those of their types, `limits_probe.py`
those of limits that no driver tells of. The answers are kept in the disk store under the driver's
version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import wgpu

from cubepy.cache import key_of, store
from cubepy.errors import BackendError
from cubepy.late import LateLogger
from cubepy.records import replace
from cubepy.runtime import FLOAT_RESULTS, float_findings, float_operands
from cubepy.target import Features, features_of
from cubepy_wgpu.atomics_probe import ATOMICS_TEXTS, atomics_found
from cubepy_wgpu.driver import LONGS
from cubepy_wgpu.halves_probe import HALVES_TEXTS, halves_found
from cubepy_wgpu.limits_probe import LIMITS_TEXTS, limits_found
from cubepy_wgpu.trial import on_elements, tried

__all__ = ["features_of_device", "probed"]

logger = LateLogger("cubepy.wgpu")

Array = np.ndarray[Any, Any]
_VERSION = "1"
_DOUBLES = frozenset({"shader-f64", LONGS})
_PLANES_NEED = frozenset({"subgroup", "subgroup-barrier"})
_FLOATS = on_elements(
    {"out": "f32", "a": "f32", "b": "f32"},
    """
    let x = a[i];
    let y = b[i];
    out[i] = x / y;
    out[n + i] = sqrt(abs(x));
    out[2u * n + i] = fma(x, y, -x);
    out[3u * n + i] = x * 0.5;
    out[4u * n + i] = (x + y) - x;
    out[5u * n + i] = x * 0.0;
    out[6u * n + i] = x - x;
    out[7u * n + i] = x * 3.0 * 5.0;
    out[8u * n + i] = x * y + x;
    out[9u * n + i] = x + 0.0;
    out[10u * n + i] = x / x;
    out[11u * n + i] = select(0.0, 1.0, x != x);
""",
)
_F64 = on_elements(
    {"out": "f64", "a": "f64", "b": "f64", "narrow": "f32"},
    """
    out[i] = a[i] / b[i];
    out[n + i] = sqrt(abs(a[i]));
    out[2u * n + i] = a[i] * 0.5lf;
    out[3u * n + i] = f64(narrow[i]);
    out[5u * n + i] = fma(a[i], b[i], -a[i]);
    out[4u * n + i] = f64(u64(bitcast<u32>(narrow[i])) * 5lu % 4294967296lu);
""",
)
# Units of the cubes that are tried, the last plane of one of them not full.
_CUBES = (64, 96, 40)
_PLANES = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(UNITS)
fn probe(
    @builtin(local_invocation_index) unit: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let neighbour = subgroupShuffle(unit, lane ^ 1u);
    let right = lane == unit % size && neighbour == (unit ^ 1u);
    out[unit] = select(0u, size, right);
}
"""


def identity_of(adapter: Any) -> str:
    """What tells one driver and its version from another."""
    info = adapter.info
    return f"{info['device']} {info['description']} {info['backend_type']} {wgpu.__version__}"


def features_of_device(adapter: Any, device: Any) -> Features:
    """The features, tried out once a driver's version."""
    found = probed(adapter, device)
    limits = dict(device.limits)
    plane = int(found["plane_dim"])
    known = features_of("wgsl", "naga")
    return replace(
        known,
        plane_dim=plane,
        plane_sizes=frozenset({plane} if plane > 1 else ()),
        shuffle="subgroupShuffle" if plane > 1 else "",
        max_cube_units=min(
            limits["max-compute-invocations-per-workgroup"],
            limits["max-compute-workgroup-size-x"],
        ),
        shared_bytes=limits["max-compute-workgroup-storage-size"],
        most_buffers=limits["max-storage-buffers-per-shader-stage"],
        exact_division=bool(found["division"]),
        fma=bool(found["fma"]),
        pinned=not found["strict"],
        most_trips=int(found["most_trips"]),
        most_nesting=int(found["most_nesting"]),
        longs=bool(found["longs"]),
        doubles=bool(found["doubles"]),
        fma_doubles=bool(found["fma_doubles"]),
        atomics_64=bool(found["atomics_64"]),
        extended_atomics_64=bool(found["atomics_64"]),
        float_sums=bool(found["float_sums"]),
        half_conversion=bool(found["half_conversion"]),
        halves=bool(found["halves"]),
        types=known.types | ({"f64"} if found["doubles"] else set()),
    )


def probed(adapter: Any, device: Any) -> dict[str, Any]:
    """What trying found out."""
    identity = identity_of(adapter)
    texts = (_FLOATS, _F64, _PLANES, ATOMICS_TEXTS, HALVES_TEXTS, LIMITS_TEXTS)
    parts = [
        ("probe", "".join((_VERSION, *texts)).encode()),
        ("driver", identity.encode()),
        ("features", " ".join(sorted(device.features)).encode()),
    ]
    key = key_of(parts, f"probe of {identity}")
    found: dict[str, Any] = json.loads(store().get_or_make(key, lambda: _tried(adapter, device)))
    return found


def _tried(adapter: Any, device: Any) -> bytes:
    floats = _floats(device)
    if not floats["denormals"]:
        logger.warning("%s: arithmetic of f32 flushes denormals", adapter.info["device"])
    found = {
        **floats,
        **_doubles(device),
        **atomics_found(device),
        **halves_found(device),
        **limits_found(device),
        "plane_dim": _plane_dim(adapter, device),
    }
    return json.dumps(found, sort_keys=True).encode()


def _floats(device: Any) -> Mapping[str, bool]:
    a, b = float_operands()
    out = np.zeros(FLOAT_RESULTS * a.size, np.float32)
    made = tried(device, _FLOATS, -(-a.size // 64), out, a, b)
    return float_findings(a, b, made.reshape(FLOAT_RESULTS, -1))


def _doubles(device: Any) -> Mapping[str, bool]:
    """Whether f64 and u64 are there, and compute as they should; whether fused products do."""
    none = {"doubles": False, "fma_doubles": False}
    if not set(device.features) >= _DOUBLES:
        return none
    narrow, _ = float_operands()
    random = np.random.default_rng(8)
    a, b = random.integers(0, 1 << 64, (2, narrow.size), dtype=np.uint64).view(np.float64)
    a[:1024], b[:1024] = random.uniform(0.5, 2.0, (2, 1024))
    a[1024:2048] = 5e-324 * random.integers(1, 1 << 50, 1024)
    with np.errstate(all="ignore"):
        multiples = narrow.view(np.uint32).astype(np.uint64) * 5 % (1 << 32)
        wide = narrow.astype(np.float64)  # a NaN that signals is no news
        wanted = np.array([a / b, np.sqrt(np.abs(a)), a * 0.5, wide, multiples.astype(np.float64)])
    out = np.zeros((len(wanted) + 1, a.size))
    try:
        made = tried(device, _F64, -(-a.size // 64), out, a, b, narrow)
    except BackendError:
        return none
    *others, fused = made.reshape(out.shape)
    exact = [
        float(Fraction(x) * Fraction(y) - Fraction(x)) for x, y in zip(a[:256], b, strict=False)
    ]
    return {
        "doubles": np.array_equal(others, wanted, equal_nan=True),
        "fma_doubles": fused[:256].tolist() == exact,
    }


def _plane_dim(adapter: Any, device: Any) -> int:
    """The size of all subgroups, or 1 where there are none, or of several sizes.

    A GPU that announces several may choose another for the next kernel; a processor does not.
    """
    info = adapter.info
    fixed = info["stackgroup_min_size"] == info["stackgroup_max_size"]
    if not set(device.features) >= _PLANES_NEED or not (fixed or info["adapter_type"] == "CPU"):
        return 1
    sizes: set[int] = set()
    for units in _CUBES:
        text = _PLANES.replace("UNITS", str(units))
        try:
            sizes |= set(tried(device, text, 1, np.zeros(units, np.uint32)).tolist())
        except BackendError:
            return 1
    return max(sizes) if len(sizes) == 1 and 0 not in sizes else 1
