"""Cases 55 to 69: barriers, grids, arrays. Messages of 62 to 64 stand in `tests/errors`.

55 to 58 also stand in `tests/conformance` and `tests/property`, which mix them at random.
"""

from __future__ import annotations

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, f32, i32
from cubepy.errors import ArgumentError, LaunchError, UniformityError
from tests.cases.running import DEVICES

both = pytest.mark.parametrize("device", DEVICES)


def test_case_55_barrier_under_divergent_control_is_refused() -> None:
    @cb.cube
    def branch(x: Array[f32]) -> None:
        if cb.UNIT_POS < 3:
            cb.sync_cube()
            x[0] = 1.0

    @cb.cube
    def after(x: Array[f32]) -> None:
        if x[cb.UNIT_POS] > 0.0:
            return
        cb.sync_cube()

    for kernel in (branch, after):
        with pytest.raises(UniformityError, match="the same for every unit of the cube"):
            kernel[1, 8](np.zeros(8, np.float32))


@both
@pytest.mark.parametrize("units", [1, 5, 17, 33, 100])
def test_case_56_reduction_in_cubes_of_odd_sizes(device: str, units: int) -> None:
    @cb.cube
    def total(x: Array[i32], out: Array[i32]) -> None:
        part = cb.shared(i32, cb.CUBE_DIM)
        part[cb.UNIT_POS] = x[cb.ABSOLUTE_POS]
        n = cb.CUBE_DIM
        while n > 1:
            cb.sync_cube()
            half = (n + 1) // 2
            if n // 2 > cb.UNIT_POS:
                part[cb.UNIT_POS] += part[cb.UNIT_POS + half]
            n = half
        if cb.UNIT_POS == 0:
            out[cb.CUBE_POS] = part[0]

    x = np.arange(3 * units, dtype=np.int32)
    out = np.zeros(3, np.int32)
    total.launch(x, out, cube_count=3, cube_dim=units, device=device)
    assert out.tolist() == x.reshape(3, units).sum(axis=1).tolist()


@both
def test_case_57_and_58_barriers_order_reads_and_later_writes(device: str) -> None:
    @cb.cube
    def rotate(x: Array[i32], trips: i32) -> None:
        tile = cb.shared(i32, cb.CUBE_DIM)
        u = cb.UNIT_POS
        v = x[u]
        for _ in range(trips):
            tile[u] = v
            cb.sync_cube()
            v = tile[(u + 1) % cb.CUBE_DIM]
            cb.sync_cube()
        x[u] = v

    x = np.arange(70, dtype=np.int32)
    rotate.launch(x, 13, cube_count=1, cube_dim=70, device=device)
    assert x.tolist() == np.roll(np.arange(70), -13).tolist()


@both
def test_case_59_empty_launches_do_nothing(device: str) -> None:
    @cb.cube
    def fill(x: Array[f32]) -> None:
        x[0] = 1.0

    x = np.zeros(4, np.float32)
    for _ in range(2):
        for shape in (0, (0, 3), (3, 0), (2, 0, 2)):
            fill.over(shape, device=device)(x)
        for count in (0, (0, 2), (2, 0), (1, 1, 0)):
            fill.launch(x, cube_count=count, cube_dim=4, device=device)
    assert not x.any()
    with pytest.raises(LaunchError, match="negative"):
        fill.over((3, -1), device=device)(x)


def test_case_60_grids_beyond_65535() -> None:
    @cb.cube
    def count(out: Array[cb.u32]) -> None:
        if cb.CUBE_POS_Y == 70_000 and cb.CUBE_POS_Z == 0:
            cb.atomic_add(out, 0, 1)
        if cb.CUBE_POS_Z == 70_000:
            cb.atomic_add(out, 1, 1)

    out = np.zeros(2, np.uint32)
    count.launch(out, cube_count=(1, 70_001), cube_dim=1, device="cpu")
    count.launch(out, cube_count=(1, 1, 70_001), cube_dim=1, device="cpu")
    assert out.tolist() == [1, 1]


@both
def test_case_61_arrays_of_every_layout(device: str) -> None:
    @cb.cube
    def double(x: Tensor[f32], out: Tensor[f32]) -> None:
        r, c = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
        out[r, c] = 2.0 * x[r, c] + f32(x.shape[0] * 100 + x.shape[1])

    base = np.arange(60, dtype=np.float32).reshape(6, 10)
    views = {
        "transposed": base.T, "Fortran": np.asfortranarray(base), "backwards": base[::-1, ::-1],
        "every other": base[::2, 1::3], "broadcast": np.broadcast_to(base[:1], (6, 10)),
        "one row": base[2:3, ::4], "one column": base[:, 3:4], "empty": base[:0],
        "odd stride of one": np.lib.stride_tricks.as_strided(base, (1, 5), (12345, 4)),
    }  # fmt: skip
    for name, x in views.items():
        out = np.zeros(x.shape, np.float32)
        double.over(x.shape, device=device)(x, out)
        expected = 2 * x + (x.shape[0] * 100 + x.shape[1])
        np.testing.assert_array_equal(out, expected, err_msg=name)
    with pytest.raises(ArgumentError, match="expected an array with 1 axis, got one with none"):
        double.over(1, device=device)(np.ones((), np.float32), base)


@both
def test_case_62_and_63_outputs_that_cannot_be_written(device: str) -> None:
    @cb.cube
    def fill(x: Array[f32]) -> None:
        x[cb.ABSOLUTE_POS] = 1.0

    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        fill.over(4, device=device)(frozen)
    with pytest.raises(ArgumentError, match="stride 0"):
        fill.over(4, device=device)(np.lib.stride_tricks.as_strided(np.zeros(1, "f4"), (4,), (0,)))


@both
def test_case_65_arguments_that_are_one_memory(device: str) -> None:
    @cb.cube
    def shifted(x: Array[i32], y: Array[i32]) -> None:
        i = cb.ABSOLUTE_POS
        y[i] = x[i] + 1
        y[i] = y[i] + x[i]

    x = np.arange(8, dtype=np.int32)
    shifted.over(8, device=device)(x, x)
    assert x.tolist() == [2 * (value + 1) for value in range(8)]
    one = np.arange(9, dtype=np.int32)
    shifted.over(1, device=device)(one[3:], one[3:4])
    assert one.tolist() == [0, 1, 2, 8, 4, 5, 6, 7, 8]


@both
def test_case_66_bytes_and_bools(device: str) -> None:
    @cb.cube
    def flip(t: Array[bool], b: Array[cb.i8], out: Array[bool]) -> None:
        i = cb.ABSOLUTE_POS
        out[i] = not t[i] if b[i] < 0 else t[i]

    t = np.array([True, False, True, False])
    b = np.array([-1, -128, 127, 0], np.int8)
    out = np.zeros(4, np.bool_)
    flip.over(4, device=device)(t, b, out)
    assert out.tolist() == [False, True, True, False]


@both
def test_case_69_scalars_of_numpy(device: str) -> None:
    @cb.cube
    def store(out: Array[cb.i64], a: cb.u8, b: cb.index, c: f32, n: cb.Comptime[int]) -> None:
        out[0] = cb.i64(a)
        out[1] = b
        out[2] = cb.i64(c)
        out[3] = n

    for a, b, c, n in ((np.uint8(255), np.int32(-5), np.float64(2.5), np.int8(7)),
                       (255, np.uint64(9), np.int16(3), 7)):  # fmt: skip
        out = np.zeros(4, np.int64)
        store.over(1, device=device)(out, a, b, c, n)
        assert out.tolist() == [255, int(b), int(c), 7]
    with pytest.raises(ArgumentError, match="256 does not fit u8"):
        store.over(1, device=device)(np.zeros(4, np.int64), np.int32(256), 0, 0, 0)
