"""Halves: whether a device converts them as it should, and has arrays of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cubepy.errors import BackendError
from cubepy.runtime import float_operands
from cubepy_wgpu.driver import HALVES
from cubepy_wgpu.trial import on_elements, tried

__all__ = ["HALVES_TEXTS", "halves_found"]

Array = np.ndarray[Any, Any]
_UNITS = 64
# Floats as bits of halves, and what is left of a float; bits as floats; what is rounded on the way.
_CONVERSIONS = on_elements(
    {"out": "u32", "a": "f32", "b": "u32"},
    """
    let x = wide(b[i]);
    out[i] = half(a[i]);
    out[n + i] = bitcast<u32>(wide(half(a[i])));
    out[2u * n + i] = bitcast<u32>(x);
    let sum = half(x + wide(b[i ^ 1u]));
    out[3u * n + i] = half(wide(sum) - x);
""",
    declared="""
fn wide(bits: u32) -> f32 {
    return unpack2x16float(bits).x;
}
fn half(value: f32) -> u32 {
    return pack2x16float(vec2<f32>(value, 0.0));
}
""",
)
_ARRAYS = on_elements(
    {"out": "f16", "a": "f16", "b": "f32"},
    """
    b[n + i] = f32(a[i]);
    out[i] = f16(b[i]);
    if ((i & 1u) == 0u) {
        out[n + i] = f16(b[n + i]);
    }
""",
    declared="enable f16;\n",
)
#: The kernels; the answers are of no use for others.
HALVES_TEXTS = _CONVERSIONS + _ARRAYS


def halves_found(device: Any) -> Mapping[str, bool]:
    """What there is, and computes as it should."""
    return {"half_conversion": _conversions(device), "halves": _arrays(device)}


def _conversions(device: Any) -> bool:
    bits = np.random.default_rng(11).permutation(1 << 16).astype(np.uint16)
    a, b = _floats_near(bits), np.resize(bits, 4 << 16)
    out = np.zeros(4 * a.size, np.uint32)
    try:
        made = tried(device, _CONVERSIONS, a.size // _UNITS, out, a, b.astype(np.uint32))
    except BackendError:
        return False
    halves, back, wide, left = made.reshape(4, -1)
    with np.errstate(all="ignore"):
        narrow, x = a.astype(np.float16), b.view(np.float16)
        other = x.reshape(-1, 2)[:, ::-1].ravel()
        wanted = (x + other) - x
    return bool(
        (halves < 1 << 16).all()
        and _same(halves.astype(np.uint16).view(np.float16), narrow)
        and _same(back.view(np.float32), narrow.astype(np.float32))
        and _same(wide.view(np.float32), x.astype(np.float32))
        and _same(left.astype(np.uint16).view(np.float16), wanted)
    )


def _floats_near(bits: Array) -> Array:
    """Floats that are halves, between two of them, next to the middle, and any others."""
    with np.errstate(all="ignore"):
        halves = bits.view(np.float16).astype(np.float32)
        middle = (halves + np.nextafter(bits.view(np.float16), np.float16(np.inf))) / np.float32(2)
        beside = np.nextafter(
            middle, np.resize(np.array([np.inf, -np.inf], np.float32), middle.size)
        )
    others = np.resize(np.concatenate(float_operands()), bits.size)
    return np.concatenate([halves, middle, beside, others])


def _arrays(device: Any) -> bool:
    if HALVES not in device.features:
        return False
    bits = np.random.default_rng(12).permutation(1 << 16).astype(np.uint16)
    a = bits.view(np.float16)
    b = np.concatenate([a[::-1].astype(np.float32), np.zeros(a.size, np.float32)])
    try:
        made = tried(device, _ARRAYS, a.size // _UNITS, np.zeros(2 * a.size, np.float16), a, b)
    except BackendError:
        return False
    stored, beside = made.reshape(2, -1)
    return _same(stored, a[::-1]) and _same(beside[::2], a[::2]) and not beside[1::2].any()


def _same(got: Array, wanted: Array) -> bool:
    """Bits are; NaN may be another."""
    type = f"u{wanted.itemsize}"
    both = np.isnan(got) & np.isnan(wanted)
    return bool((both | (got.view(type) == wanted.view(type))).all())
