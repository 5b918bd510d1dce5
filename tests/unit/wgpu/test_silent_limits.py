"""Drivers that end loops, or ignore conditions, in silence: a launch is right, or an error."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32, u8, u32, u64
from cubepy.errors import LaunchError, UnsupportedError
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


@cb.cube
def narrow(out: Array[u32], long: i32, short: i32, octets: Array[u8]) -> None:
    i = cb.ABSOLUTE_POS
    for trip in range(250):
        for j in cb.unroll(range(100)):
            octets[i + j * UNITS] = u8(trip + j * long + short)
    out[i] = u32(long)


@cb.cube(plane_dim=64)
def sums(out: Array[u32], long: i32, short: i32) -> None:
    total = u32(0)
    for _ in range(100):
        for _ in cb.unroll(range(8)):
            total += cb.plane_exclusive_sum(u32(long)) + cb.plane_broadcast(u32(short), 3)
    out[cb.ABSOLUTE_POS] = total


def launched(kernel: Any, long: int, short: int, where: str) -> list[Any] | None:
    """What a kernel wrote; None if the device said that it could not."""
    out = np.zeros(UNITS, np.uint32)
    more: list[Any] = []
    if kernel is adds:
        more = [np.zeros(1, np.float32)]
    elif kernel is narrow:
        more = [np.zeros(100 * UNITS, np.uint8)]
    try:
        kernel.over(UNITS, device=where)(out, long, short, *more)
    except LaunchError as error:
        if "the driver of this device ended loops" not in str(error):
            raise
        return None
    return [out, *more]


@pytest.mark.parametrize(
    "kernel", [nested, one_after_another, gives_up, divides, adds, narrow, sums]
)
def test_launches_are_right_or_refused(kernel: Any) -> None:
    most = device(NAME).target.features.most_trips
    sizes = [(3, 5), (200, 200), (300, 230), (1500, 2), (70_000, 1), (5, 70_000)]
    for long, short in sizes[: 1 if kernel in (narrow, sums) else None]:
        found, right = launched(kernel, long, short, NAME), launched(kernel, long, short, "cpu")
        if found is None:
            assert most
            assert kernel in (narrow, sums) or most < 64 * (long + UNITS) * (short + 1)
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


HEAD = """\
import cubepy as cb
from cubepy import Array, i32

@cb.cube
def code(v: i32) -> i32:
    {code}

@cb.cube
def run(x: Array[i32], out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    v = x[i]
    {body}
"""
SHAPES = {
    "elif": (
        "return v",
        "if v == {}:\n        out[i] = i32(i) * {}\n    el",
        "if v < 0:\n        out[i] = 3",
    ),
    "return": ("return v", "if v == {}:\n        return\n    out[i] += {}\n    ", "out[i] *= 5"),
    "helper": ("if v == {}:\n        return {} + v\n    ", "out[i] = code(v)", "return -1"),
    "break": (
        "return v",
        "if v == {}:\n            break\n        out[i] += {}\n        ",
        "out[i] *= 5",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [78, 79, 90])
def test_branches_are_right_or_refused(shape: str, count: int) -> None:
    code, body, last = SHAPES[shape]
    if shape == "helper":
        code = "".join(code.format(n, n) for n in range(count)) + last
    else:
        loop = "for _ in range(2):\n        " if shape == "break" else ""
        body = loop + "".join(body.format(n, n) for n in range(count)) + last
    run = cb.exec(HEAD.format(code=code, body=body))["run"]
    x = np.arange(-10, count + 10, dtype=np.int32)
    found, right = np.zeros_like(x), np.zeros_like(x)
    run.over(x.size)(x, right)
    try:
        run.over(x.size, device=NAME)(x, found)
    except UnsupportedError as error:
        most = device(NAME).target.features.most_nesting
        if not (0 < most <= count + 2 and "branches inside of each other" in str(error)):
            raise
        return
    np.testing.assert_array_equal(found, right)
