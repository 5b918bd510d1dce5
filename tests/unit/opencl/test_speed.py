"""What makes kernels and launches quick on OpenCL devices, and that it changes no answer."""

import functools
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, f32, i32, i64, u8, u16, u32
from cubepy.launcher.launcher import Launcher
from cubepy.runtime import device
from tests.opencl_devices import on_each, on_the_first

each = pytest.mark.parametrize("target", on_each())
one = pytest.mark.parametrize("target", on_the_first())

UNITS = 700


@cb.cube
def divided(by: i64, start: i64, floors: Array[i64], rests: Array[i64], cuts: Array[i64]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(floors):
        floors[i] = i64(i) // by
        rests[i] = i64(i) % by
        cuts[i] = cb.trunc_div(i64(i) + start, by) + 3 * cb.trunc_rem(i64(i) + start, by)


@cb.cube
def turned(x: Array[f32], width: i32, out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i // width + (i % width) * 10]


def quotients(numbers: list[int], by: int) -> list[int]:
    """Divided towards zero; by zero it is zero."""
    return [abs(n) // abs(by) * (1 if (n < 0) == (by < 0) else -1) if by else 0 for n in numbers]


DIVISORS = [1, 2, 3, 7, 699, 700, 2**31 - 1, 2**31, 2**40 + 1, 2**63 - 1, 0, -1, -3, -(2**63)]


@each
@pytest.mark.parametrize("start", [0, 2**31 - 1 - UNITS, 2**31 - 300, 2**53 - 300, -5])
def test_divisions_are_right_whether_or_not_they_fit_31_bits(start: int, target: str) -> None:
    made = [np.zeros(UNITS, np.int64) for _ in range(3)]
    numbers = list(range(UNITS))
    moved = [n + start for n in numbers]
    for by in DIVISORS:
        divided.over(UNITS, device=target)(by, start, *made)
        cut = quotients(moved, by)
        wanted = [n - q * by if by else 0 for n, q in zip(moved, cut, strict=True)]
        assert made[0].tolist() == [n // by if by else 0 for n in numbers]
        assert made[1].tolist() == [n % by if by else 0 for n in numbers]
        assert made[2].tolist() == [q + 3 * r for q, r in zip(cut, wanted, strict=True)]


@one
def test_a_division_by_an_argument_is_one_of_31_bits_in_whole_cubes(target: str) -> None:
    x = np.zeros(100, np.float32)
    text = turned.over(100, device=target).inspect(x, 10, x.copy()).text
    whole, others = text[text.index("kernel __attribute__") :].split("} else {", 1)
    assert "cb_quotient_by_doubles((int)" in whole
    assert "cb_floor_div" not in whole
    assert "cb_floor_div_i64(" in others


@cb.cube
def to_integers(x: Array[f32], a: Array[u8], b: Array[u16], c: Array[u32], d: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    a[i], b[i], c[i], d[i] = u8(x[i]), u16(x[i]), u32(x[i]), i32(x[i])


@each
def test_floats_become_integers_that_saturate(target: str) -> None:
    chance = np.random.default_rng(3)
    x = np.concatenate(
        [
            chance.integers(0, 1 << 32, 4000, dtype=np.uint32).view(np.float32),
            np.array([0, -0.0, -0.5, -1, 254.9, 255, 255.5, 256, 65535, 65536, 2.0**31, 2.0**32,
                      np.nan, -np.nan, np.inf, -np.inf], np.float32),
        ]
    )  # fmt: skip
    kinds: list[Any] = [np.uint8, np.uint16, np.uint32, np.int32]
    made = [np.zeros(x.size, kind) for kind in kinds]
    to_integers.over(x.size, device=target)(x, *made)
    plain = np.trunc(np.nan_to_num(x, nan=0.0).astype(np.float64))  # of signalling NaNs too
    for kind, found in zip(kinds, made, strict=True):
        limits = np.iinfo(kind)
        np.testing.assert_array_equal(found, np.clip(plain, limits.min, limits.max))


@cb.cube
def lanes(out: Tensor[i32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i, 0], out[i, 1] = i32(cb.UNIT_POS_PLANE), i32(cb.PLANE_POS)


@each
@pytest.mark.parametrize("planes", [1, 3])
def test_places_in_planes_follow_the_linear_order(planes: int, target: str) -> None:
    size = device(target).target.features.plane_dim
    units = planes * size
    out = np.zeros((2 * units, 2), np.int32)
    lanes.launch(out, cube_count=2, cube_dim=units, device=target)
    unit = np.tile(np.arange(units), 2)
    np.testing.assert_array_equal(out, np.stack([unit % size, unit // size], axis=1))


@cb.cube
def add(a: Array[f32], b: Array[f32], c: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(c):
        c[i] = a[i] + b[i]


@one
def test_the_same_buffers_again_are_not_looked_at_again(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = device(target)
    a, b, c = (there.array(np.ones(64, np.float32)) for _ in range(3))
    seen: list[int] = []
    general: Any = Launcher._launch

    @functools.wraps(general)
    def counted(self: Launcher, *given: Any) -> None:
        seen.append(1)
        general(self, *given)

    monkeypatch.setattr(Launcher, "_launch", counted)
    launch = add.over(64)  # the default device is another
    for _ in range(10):
        launch(a, b, c)
    assert len(seen) <= 2
    launch(a, c, c)
    assert c.numpy().tolist() == [3.0] * 64
