"""Launches with the same buffers on wgpu: the short way gives the same answers and refusals."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32
from cubepy.errors import LaunchError
from cubepy.runtime import device, registry
from tests.wgpu_devices import NAME, needs_wgpu

pytestmark = needs_wgpu


def fresh() -> Any:
    """A device of its own, whose limits a test may change."""
    known: Any = registry().runtime(NAME).devices()[0]
    return type(known)(known._adapter, 98)


@cb.cube
def scaled(x: Array[f32], factor: f32, out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[i] * factor


@cb.cube
def moved(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[i] + 1.0


def numbers(size: int) -> Any:
    return np.random.default_rng(size).normal(size=size).astype(np.float32)


def test_what_differs_between_launches_is_seen() -> None:
    there = device(NAME)
    pairs = [(there.array(numbers(size)), there.empty(size)) for size in (300, 300, 77)]
    launch = scaled.over(300)
    chance = np.random.default_rng(5)
    for _ in range(60):
        number = int(chance.integers(3))
        factor = float(chance.integers(1, 4))
        x, out = pairs[number]
        for _ in range(int(chance.integers(1, 4))):
            launch(x, factor, out)
        size = x.shape[0]
        np.testing.assert_array_equal(out.numpy(), numbers(size) * np.float32(factor))


def test_launches_in_parts_are_counted_on_where_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    there = fresh()
    few = {**there._limits, "max-compute-workgroups-per-dimension": 2}
    monkeypatch.setitem(there.__dict__, "_limits", few)
    x, out = there.array(numbers(2000)), there.empty(2000)
    launch = moved.over(2000)  # eight cubes, four parts
    for _ in range(4):
        launch(x, out)
        launch(out, x)
    expected = numbers(2000)
    for _ in range(8):
        expected = expected + np.float32(1)
    np.testing.assert_array_equal(x.numpy(), expected)


def test_more_than_words_can_count_is_refused_on_either_way() -> None:
    there = fresh()
    target = there.target
    there.__dict__["target"] = replace(
        target, features=replace(target.features, index_limit=1 << 10)
    )
    small, large = there.array(numbers(1000)), there.array(numbers(1025))
    launch = moved.over(1000)
    for _ in range(3):
        launch(small, small)
    for _ in range(2):
        with pytest.raises(LaunchError, match=r"'x' has more than 1024 elements along an axis"):
            launch(large, large)
        launch(small, small)
    with pytest.raises(LaunchError, match="at most 1024 units, not 1280 x 1 x 1"):
        moved.over(1025)(small, small)
    np.testing.assert_allclose(small.numpy(), numbers(1000) + 5, rtol=1e-6)
    np.testing.assert_array_equal(large.numpy(), numbers(1025))


def test_times_are_told_from_the_first_event_on() -> None:
    there = fresh()
    x = there.array(numbers(1 << 16))
    launch = moved.over(1 << 16)
    launch(x, x)
    before = there.record()
    for _ in range(5):
        launch(x, x)
    after = there.record()
    assert 0 < after.since(before) < 10
