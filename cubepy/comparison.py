"""Bit-for-bit comparison of arrays: every NaN equals every NaN, and 0.0 differs from -0.0."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubepy.ir import scalar_of_numpy

__all__ = ["differences", "steps_apart"]

Array = np.ndarray[Any, Any]


def _words(array: Array) -> Array:
    return np.ascontiguousarray(array).view(np.dtype(f"u{array.dtype.itemsize}"))


def _is_float(array: Array) -> bool:
    scalar = scalar_of_numpy(array.dtype)
    return scalar is not None and scalar.is_float


def _nan(array: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.isnan(array.astype(np.float64))


def steps_apart(got: Array, expected: Array) -> Array:
    """How many representable values float arrays are apart; NaN and NaN: 0, one NaN: inf."""
    width = got.dtype.itemsize * 8
    sign = np.uint64(1) << np.uint64(width - 1)
    bits = [_words(array).astype(np.uint64) for array in (got, expected)]
    signs = [(each & sign) != 0 for each in bits]
    sizes = [(each & ~sign).astype(np.int64) for each in bits]  # exact: floats would round these
    apart = np.abs(sizes[0] - sizes[1]).astype(np.float64)
    across = sizes[0].astype(np.float64) + sizes[1].astype(np.float64)
    steps = np.where(signs[0] == signs[1], apart, across)
    both, either = _nan(got) & _nan(expected), _nan(got) | _nan(expected)
    return np.where(both, 0.0, np.where(either, np.inf, steps))


def differences(got: Array, expected: Array, *, steps: int = 0) -> Array:
    """Flat positions at which arrays differ; floats may be `steps` representable values apart."""
    if got.dtype != expected.dtype or got.shape != expected.shape:
        raise ValueError(
            f"{got.dtype}{got.shape} cannot be compared with {expected.dtype}{expected.shape}"
        )
    got, expected = got.reshape(-1), expected.reshape(-1)
    if steps and _is_float(got):
        return np.flatnonzero(steps_apart(got, expected) > steps)
    differ = _words(got) != _words(expected)
    if _is_float(got):
        differ &= ~(_nan(got) & _nan(expected))
    return np.flatnonzero(differ)
