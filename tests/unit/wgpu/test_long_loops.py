"""Drivers that end loops in silence: a launch is right, or it is an error."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32, u32, u64
from cubepy.errors import LaunchError
from cubepy.runtime import device
from tests.wgpu_devices import NAME, needs_wgpu

pytestmark = needs_wgpu

UNITS = 50


@cb.cube
def nested(out: Array[u32], long: i32, short: i32) -> None:
    i = cb.ABSOLUTE_POS
    count = u32(0)
    for _ in range(long + i32(i)):
        for _ in range(short):
            count = count * u32(3) + u32(1)
    out[i] = count


@cb.cube
def one_after_another(out: Array[u32], long: i32, short: i32) -> None:
    i = cb.ABSOLUTE_POS
    count = u32(0)
    for _ in range(long):
        count = count * u32(3) + u32(1)
    for _ in range(short):
        count = count * u32(5) + u32(1)
    out[i] = count


@cb.cube
def gives_up(out: Array[u32], long: i32, short: i32) -> None:
    i = cb.ABSOLUTE_POS
    if i % 3 == 0:
        return
    count, trip = u32(0), 0
    while True:
        if trip >= long * short:
            return
        trip += 1
        count = count * u32(3) + u32(1)
        out[i] = count


@cb.cube
def divides(out: Array[u32], long: i32, short: i32) -> None:
    i = cb.ABSOLUTE_POS
    left = u64(1) << 63
    for trip in range(long):
        left += (left * u64(5) | u64(1)) // (u64(i) + u64(trip + short) * (u64(1) << 33))
    out[i] = u32(left) ^ u32(left >> 32)


@cb.cube
def adds(out: Array[u32], long: i32, short: i32, sums: Array[f32]) -> None:
    for _ in range(long):
        cb.atomic_add(sums, 0, 1.0)
    out[cb.ABSOLUTE_POS] = u32(short)


def launched(kernel: Any, long: int, short: int, where: str) -> list[Any] | None:
    """What a kernel wrote; None if the device said that it could not."""
    out = np.zeros(UNITS, np.uint32)
    more = [np.zeros(1, np.float32)] if kernel is adds else []
    try:
        kernel.over(UNITS, device=where)(out, long, short, *more)
    except LaunchError as error:
        if "the driver of this device ended loops" not in str(error):
            raise
        return None
    return [out, *more]


@pytest.mark.parametrize("kernel", [nested, one_after_another, gives_up, divides, adds])
def test_launches_are_right_or_refused(kernel: Any) -> None:
    most = device(NAME).target.features.most_trips
    for long, short in ((3, 5), (200, 200), (300, 230), (1500, 2), (70_000, 1), (5, 70_000)):
        found, right = launched(kernel, long, short, NAME), launched(kernel, long, short, "cpu")
        if found is None:
            assert 0 < most < 64 * (long + UNITS) * (short + 1)
            continue
        assert right is not None
        for one, other in zip(found, right, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_loop_longer_than_the_driver_allows_is_refused_and_the_next_launch_works() -> None:
    most = device(NAME).target.features.most_trips
    if not most:
        pytest.skip("the driver ends no loop")
    out = np.zeros(UNITS, np.uint32)
    with pytest.raises(LaunchError, match=r"65535 trips together(.|\n)*for _ in range\(long"):
        nested.over(UNITS, device=NAME)(out, most, 2)
    assert launched(nested, 10, 10, NAME) is not None
    text = nested.over(UNITS, device=NAME).inspect(np.zeros(UNITS, np.uint32), 1, 1).text
    assert "nested_units(cube, unit);" in text


def test_loops_that_are_known_to_be_short_are_not_watched() -> None:
    @cb.cube
    def short(out: Array[u32]) -> None:
        i = cb.ABSOLUTE_POS
        for trip in range(9):
            out[i] += u32(trip) * out[i]

    assert "short_units" not in short.over(4, device=NAME).inspect(np.zeros(4, np.uint32)).text
