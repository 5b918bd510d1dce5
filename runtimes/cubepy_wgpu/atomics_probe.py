"""Integers of 64 bits, their atomics, atomic sums of floats: whether a device has them right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cubepy.errors import BackendError
from cubepy.runtime import float_operands
from cubepy_wgpu.driver import ATOMICS_64, FLOAT_SUMS, LONGS
from cubepy_wgpu.trial import bindings, on_elements, tried

__all__ = ["ATOMICS_TEXTS", "atomics_found"]

Array = np.ndarray[Any, Any]
_UNITS, _CUBES = 64, 4
_ON_LONGS = on_elements(
    {"out": "u64", "a": "u64", "b": "u64"},
    """
    out[i] = a[i] * b[i];
    out[n + i] = a[i] / b[i];
    out[2u * n + i] = (a[i] >> 32u) | (b[i] << 32u);
    out[3u * n + i] = u64(u32(a[i] & 0xfffffffflu)) + u64(u32(b[i] >> 32u));
""",
)
# All units meet in each of the first cells; old values and what cubes made are behind them.
_ON_CELLS = (
    bindings({"out": "atomic<TYPE>", "a": "TYPE"})
    + """
var<workgroup> met: array<atomic<TYPE>, 3>;
@compute @workgroup_size(64)
fn probe(
    @builtin(global_invocation_id) place: vec3<u32>,
    @builtin(local_invocation_index) unit: u32,
    @builtin(workgroup_id) cube: vec3<u32>,
) {
    let value = a[place.x];
    if (unit < 3u) {
        atomicStore(&met[unit], a[0]);
    }
    workgroupBarrier();
    atomicAdd(&out[0], value);
    atomicSub(&out[1], value);
    atomicAnd(&out[2], value | TYPE(unit));
    atomicOr(&out[3], value & (value >> 1u));
    atomicXor(&out[4], value);
    atomicMin(&out[5], value);
    atomicMax(&out[6], value);
    atomicAdd(&met[0], value);
    atomicMin(&met[1], value);
    atomicStore(&out[21u + place.x], atomicExchange(&out[7], value));
    var seen = atomicLoad(&out[8]);
    loop {
        let change = atomicCompareExchangeWeak(&out[8], seen, seen + value);
        if (change.exchanged) {
            break;
        }
        seen = change.old_value;
    }
    loop {
        let old = atomicLoad(&met[2]);
        if (atomicCompareExchangeWeak(&met[2], old, old ^ value).exchanged) {
            break;
        }
    }
    workgroupBarrier();
    if (unit < 3u) {
        atomicStore(&out[9u + cube.x * 3u + unit], atomicLoad(&met[unit]));
    }
}
"""
)
_ON_SUMS = on_elements(
    {"out": "atomic<f32>", "a": "f32", "b": "f32"},
    """
    atomicStore(&out[1u + i], a[i]);
    atomicStore(&out[1u + n + i], a[i]);
    atomicStore(&out[1u + 2u * n + i], atomicAdd(&out[1u + i], b[i]));
    atomicSub(&out[1u + n + i], b[i]);
    atomicStore(&out[1u + 3u * n + i], atomicExchange(&out[1u + 2u * n + i], b[i]));
    atomicAdd(&out[0], 1.0);
""",
)
#: The kernels; the answers are of no use for others.
ATOMICS_TEXTS = _ON_LONGS + _ON_CELLS + _ON_SUMS


def atomics_found(device: Any) -> Mapping[str, bool]:
    """What there is, and computes as it should."""
    longs = _there(device, LONGS, _longs)
    return {
        "longs": longs,
        "atomics_64": longs and _there(device, ATOMICS_64, _cells),
        "float_sums": _there(device, FLOAT_SUMS, _sums),
    }


def _there(device: Any, feature: str, computes: Callable[[Any], bool]) -> bool:
    try:
        return feature in device.features and computes(device)
    except BackendError:
        return False


def _longs(device: Any) -> bool:
    random = np.random.default_rng(9)
    a, b = random.integers(1, 1 << 64, (2, _UNITS * 16), dtype=np.uint64)
    b[::2] >>= random.integers(0, 63, b[::2].size, dtype=np.uint64)
    b |= 1
    half, low = np.uint64(32), np.uint64(0xFFFF_FFFF)
    wanted = [a * b, a // b, a >> half | b << half, (a & low) + (b >> half)]
    made = tried(device, _ON_LONGS, a.size // _UNITS, np.zeros(4 * a.size, np.uint64), a, b)
    return np.array_equal(made.reshape(4, -1), wanted)


def _cells(device: Any) -> bool:
    return all(
        _cells_of(device, type, dtype) for type, dtype in (("u64", np.uint64), ("i64", np.int64))
    )


def _cells_of(device: Any, type: str, dtype: type[np.generic]) -> bool:
    bits = np.random.default_rng(10).integers(1, 1 << 64, _UNITS * _CUBES, dtype=np.uint64)
    a: Array = bits.view(dtype)
    first: Array = np.arange(11, 20, dtype=np.uint64).view(dtype) * dtype(0x0123_4567_89AB)
    out = np.concatenate([first, np.zeros(3 * _CUBES + a.size, dtype)])
    made = tried(device, _ON_CELLS.replace("TYPE", type), _CUBES, out, a)
    handed, old = made[7], made[21:]
    return (
        handed in a
        and np.array_equal([*made[:7], made[8]], _met_by_all(first, a))
        and np.array_equal(made[9:21].reshape(_CUBES, 3), _met_by_cubes(a))
        and np.array_equal(np.sort([*old, handed]), np.sort([first[7], *a]))
    )


def _met_by_all(first: Array, a: Array) -> list[Any]:
    """What all units together make of the first cells, but for the one that hands values on."""
    units = np.arange(a.size, dtype=a.dtype) % _UNITS
    with np.errstate(over="ignore"):
        return [
            first[0] + a.sum(),
            first[1] - a.sum(),
            first[2] & np.bitwise_and.reduce(a | units),
            first[3] | np.bitwise_or.reduce(a & a >> 1),
            first[4] ^ np.bitwise_xor.reduce(a),
            min(first[5], a.min()),
            max(first[6], a.max()),
            first[8] + a.sum(),
        ]


def _met_by_cubes(a: Array) -> list[list[Any]]:
    """What each cube makes of its own cells."""
    with np.errstate(over="ignore"):
        return [
            [each.sum() + a[0], min(each.min(), a[0]), np.bitwise_xor.reduce(each) ^ a[0]]
            for each in a.reshape(_CUBES, _UNITS)
        ]


def _sums(device: Any) -> bool:
    a, b = float_operands()
    made = tried(device, _ON_SUMS, -(-a.size // _UNITS), np.zeros(1 + 4 * a.size, np.float32), a, b)
    with np.errstate(all="ignore"):
        wanted = [a + b, a - b, b, a]
    each = made[1:].reshape(4, -1)
    return bool(made[0] == a.size) and np.array_equal(each, wanted, equal_nan=True)
