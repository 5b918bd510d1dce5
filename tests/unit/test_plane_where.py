"""`where=` on every plane operation: lanes that do not count, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cubepy as cb
from cubepy import Array, Comptime, i32, u64
from cubepy.testing import reference_for

UNITS, CUBES = 43, 3
DEVICES = ("cpu", "cpu:x86-64-v2+gang=16", "cpu:x86-64-v3", "cpu:x86-64-v3+gang=64")
REDUCTIONS = ("sum", "prod", "min", "max")
SCANS = ("inclusive_sum", "exclusive_sum", "inclusive_prod", "exclusive_prod")
SHUFFLES = ("broadcast", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down")


@cb.cube
def numbers(x: Array[i32], flags: Array[bool], out: Array[i32], operation: Comptime[Any]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = operation(x[i], where=flags[i])


@cb.cube
def lanes(
    x: Array[i32], flags: Array[bool], places: Array[i32], out: Array[i32],
    operation: Comptime[Any],
) -> None:  # fmt: skip
    i = cb.ABSOLUTE_POS
    out[i] = operation(x[i], places[i], where=flags[i])


@cb.cube
def votes(x: Array[i32], flags: Array[bool], out: Array[u64]) -> None:
    i = cb.ABSOLUTE_POS
    positive = x[i] > 0
    out[4 * i] = u64(cb.plane_all(positive, where=flags[i]))
    out[4 * i + 1] = u64(cb.plane_any(positive, where=flags[i]))
    out[4 * i + 2] = cb.plane_ballot(positive, where=flags[i])
    out[4 * i + 3] = u64(cb.plane_elect(where=flags[i]))


def planes_of(array: np.ndarray, plane: int) -> list[np.ndarray]:
    """The lanes of every plane, cube after cube."""
    return [
        cube[at : at + plane]
        for cube in array.reshape(CUBES, UNITS)
        for at in range(0, UNITS, plane)
    ]


def on_each_plane(function: Any, plane: int, *arrays: np.ndarray) -> np.ndarray:
    columns = [planes_of(array, plane) for array in arrays]
    return np.concatenate([function(*row) for row in zip(*columns, strict=True)])


def reduced(name: str, x: np.ndarray, flags: np.ndarray) -> np.ndarray:
    kind = name.rpartition("_")[2]
    neutral = {"sum": 0, "prod": 1, "min": 2**31 - 1, "max": -(2**31)}[kind]
    values = np.where(flags, x, neutral).astype(np.int32)
    combine = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
    ufunc = combine[kind]
    with np.errstate(over="ignore"):
        sums = ufunc.accumulate(values, dtype=np.int32)
    if name.startswith("inclusive"):
        return sums
    if name.startswith("exclusive"):
        return np.concatenate([[neutral], sums[:-1]])
    return np.full_like(x, sums[-1])


def shuffled(name: str, x: np.ndarray, flags: np.ndarray, places: np.ndarray) -> np.ndarray:
    own = np.arange(x.size)
    source = {"shuffle_xor": own ^ places, "shuffle_up": own - places, "shuffle_down": own + places}
    lane = source.get(name, places)
    there = (lane >= 0) & (lane < x.size)
    lane = np.where(there, lane, 0)
    return np.where(there & flags[lane], x[lane], x)


def voted(x: np.ndarray, flags: np.ndarray) -> np.ndarray:
    holds = (x > 0) & flags
    elected = np.zeros(x.size, bool)
    elected[np.flatnonzero(flags)[:1]] = True
    bits = sum(1 << int(lane) for lane in np.flatnonzero(holds))
    rows = [np.full(x.size, (holds | ~flags).all()), np.full(x.size, holds.any()),
            np.full(x.size, bits, np.uint64), elected]  # fmt: skip
    return np.stack([row.astype(np.uint64) for row in rows], axis=1).reshape(-1)


@given(st.integers(0, 2**32), st.sampled_from(DEVICES), st.floats(0, 1))
@settings(max_examples=25)
def test_against_numpy(seed: int, name: str, share: float) -> None:
    random = np.random.default_rng(seed)
    size = CUBES * UNITS
    x = random.integers(-5, 6, size).astype(np.int32)
    flags = random.random(size) < share
    machine = cb.device(name)
    plane = machine.target.features.plane_dim
    places = random.integers(-2, plane + 2, size).astype(np.int32)
    same = np.repeat(random.integers(0, plane, size // UNITS * UNITS // UNITS), UNITS)
    operation = str(random.choice(REDUCTIONS + SCANS + SHUFFLES))
    for device in (machine, cb.device(reference_for(name))):
        sizes: dict[str, Any] = {"cube_count": CUBES, "cube_dim": UNITS, "device": device}
        out = np.zeros(4 * size, np.uint64)
        votes.launch(x, flags, out, **sizes)
        assert (out == on_each_plane(voted, plane, x, flags)).all()
        got = np.zeros(size, np.int32)
        function = getattr(cb, f"plane_{operation}")
        if operation in SHUFFLES:
            given_places = same.astype(np.int32) if operation == "broadcast" else places
            lanes.launch(x, flags, given_places, got, function, **sizes)
            wanted = on_each_plane(
                lambda *row: shuffled(operation, *row), plane, x, flags, given_places
            )
        else:
            numbers.launch(x, flags, got, function, **sizes)
            wanted = on_each_plane(lambda *row: reduced(operation, *row), plane, x, flags)
        assert (got == wanted).all(), operation


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_known_conditions(device: str) -> None:
    @cb.cube
    def kernel(x: Array[i32], out: Array[i32]) -> None:
        i = cb.UNIT_POS
        out[3 * i] = cb.plane_shuffle(x[i], 0, where=True)
        out[3 * i + 1] = cb.plane_shuffle(x[i], 0, where=False)
        out[3 * i + 2] = i32(cb.plane_elect(where=False)) + 10 * i32(cb.plane_elect(where=True))

    x, out = np.arange(4, dtype=np.int32) + 5, np.zeros(12, np.int32)
    kernel.launch(x, out, cube_count=1, cube_dim=4, device=device)
    assert out.reshape(4, 3).tolist() == [[5, 5, 10], [5, 6, 0], [5, 7, 0], [5, 8, 0]]
