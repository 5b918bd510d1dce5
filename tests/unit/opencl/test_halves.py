"""Conversions between f16 and f32 in OpenCL C: every half, and the floats where rounding turns."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f16, f32
from cubepy.runtime import registry
from tests.opencl_devices import on_each
from tests.same_bits import same_bits

HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


@cb.cube
def converted(halves: Array[f16], wide: Array[f32], floats: Array[f32], narrow: Array[f16]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(wide):
        wide[i] = f32(halves[i])
    narrow[i] = f16(floats[i])


def turning_points() -> np.ndarray:
    """Halves, the middles between neighbours, the floats beside all these, and any bits."""
    finite = np.sort(HALVES[np.isfinite(HALVES)].astype(np.float32))
    exact = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, [-65520, 65520]])
    exact = exact.astype(np.float32)
    beside = [np.nextafter(exact, np.float32(limit)) for limit in (-np.inf, np.inf)]
    random = np.random.default_rng(16).integers(0, 1 << 32, 100_000, dtype=np.uint32)
    ends = np.array([0, 1, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000], np.uint32)
    odd = np.concatenate([random, ends, ends | np.uint32(1 << 31)]).view(np.float32)
    return np.concatenate([exact, *beside, odd])


@pytest.mark.parametrize("by_instructions", [True, False], ids=["instructions", "integers"])
@pytest.mark.parametrize("target", on_each())
def test_every_half_and_every_rounding(target: str, *, by_instructions: bool) -> None:
    devices: Any = registry().runtime("opencl").devices()
    (machine,) = (each.anew() for each in devices if each.name == target)
    features = replace(machine.target.features, half_conversion=by_instructions)
    machine.target = replace(machine.target, features=features)
    floats = turning_points()
    wide, narrow = np.zeros(HALVES.size, np.float32), np.zeros(floats.size, np.float16)
    converted.over(floats.size, device=machine)(HALVES, wide, floats, narrow)
    assert same_bits(wide, HALVES.astype(np.float32)).all()
    with np.errstate(over="ignore"):
        assert same_bits(narrow, floats.astype(np.float16)).all()
