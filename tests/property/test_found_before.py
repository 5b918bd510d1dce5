"""Kernels on which machine code once went wrong, made small; random kernels found each of them."""

from collections.abc import Callable
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, i32
from cubepy.testing import cpu_targets, gang_of, reference_for

Numbers = np.ndarray[Any, Any]
T = TypeVar("T", i32, cb.u32, cb.i64, cb.u64)


@cb.cube
def others_wait_outside_the_arm(x: Array[i32], limit: i32, out: Array[i32]) -> None:
    """All units in the arm `continue`; those outside of it must still reach the store."""
    i = cb.ABSOLUTE_POS
    n = 0
    while n < 5:
        n += 1
        if x[i] % 2 == 0:
            if limit == 1:
                pass
            else:
                continue
        out[i] += n


@cb.cube
def all_return_from_an_endless_loop(x: Array[i32], limit: i32, out: Array[i32]) -> None:
    """Once every unit of a gang has returned, nobody is left to end the loop."""
    i = cb.ABSOLUTE_POS
    n = 0
    while n < limit:
        n += 1
        if x[i] > 2:
            while True:
                return
        out[i] += n


@cb.cube
def return_where_a_guard_is_assumed(x: Array[i32], limit: i32, out: Array[i32]) -> None:
    """The fast version takes `p != 0` for granted, and with it the return."""
    i, p = cb.ABSOLUTE_POS, cb.ABSOLUTE_POS_X
    last = 7
    for _ in range(limit % 3 + 1):
        for _trip in range(1, p**3 % 3 + 2):
            if p != 0:
                return
            last = x[len(x) - 1]
    out[i] = last


@cb.cube
def return_in_a_loop_of_part_of_a_row(x: Array[i32], limit: i32, out: Array[i32]) -> None:
    """The first unit of each row returns from a loop of equal trips."""
    i, p = cb.ABSOLUTE_POS, cb.ABSOLUTE_POS_X
    for _ in range(limit, -1, -1):
        if not cb.bool_(p):
            return
    out[i] = x[i]


@cb.cube
def barrier_in_cubes_of_one_unit(x: Array[i32], limit: i32, out: Array[i32]) -> None:
    """Every position of a cube of one unit is uniform."""
    seen = cb.shared(i32, cb.CUBE_DIM)
    seen[cb.UNIT_POS] = x[cb.ABSOLUTE_POS]
    cb.sync_cube()
    out[cb.ABSOLUTE_POS] = seen[cb.CUBE_DIM - 1 - cb.UNIT_POS] + limit


@cb.cube
def return_in_the_other_arm_of_a_barrier(x: Array[i32], limit: i32, out: Array[i32]) -> None:
    """The branch is one for the cube; only some units return from its second arm."""
    i = cb.ABSOLUTE_POS
    seen = cb.shared(i32, cb.CUBE_DIM)
    seen[cb.UNIT_POS] = x[i]
    if x[cb.CUBE_POS] > 6:
        cb.sync_cube()
        out[i] = seen[cb.CUBE_DIM - 1 - cb.UNIT_POS]
    elif x[i] < limit:
        return
    out[i] += 5


@cb.cube
def cube_value_of_a_divergent_variable(x: Array[i32], limit: i32, out: Array[i32]) -> None:
    """The trips are the same for the cube, though made of what each unit has by itself."""
    i = cb.ABSOLUTE_POS
    own = limit
    if x[i] > 3:
        own = x[i]
    trips = cb.cube_uniform(own)
    for _ in range(trips % 5):
        cb.sync_cube()
        out[i] += own


KERNELS = (
    others_wait_outside_the_arm,
    all_return_from_an_endless_loop,
    return_where_a_guard_is_assumed,
    return_in_a_loop_of_part_of_a_row,
    barrier_in_cubes_of_one_unit,
    return_in_the_other_arm_of_a_barrier,
    cube_value_of_a_divergent_variable,
)


@pytest.mark.parametrize("target", cpu_targets())
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_machine_code_agrees_with_the_reference(kernel: Callable[..., None], target: str) -> None:
    for cube_count, cube_dim in (((6, 1, 1), (1, 1, 1)), ((3, 2, 1), (16, 2, 1)), (2, 17)):
        results = []
        for device in (reference_for(target), target):
            out: Numbers = np.zeros(192, np.int32)
            x = np.arange(192, dtype=np.int32) * 7 % 11
            launch: Any = kernel
            launch.launch(x, 4, out, cube_count=cube_count, cube_dim=cube_dim, device=device)
            results.append(out)
        np.testing.assert_array_equal(results[1], results[0])


@cb.cube
def narrowed_on_the_way_to_memory(
    x: Array[i32], bytes_: Array[cb.u8], shorts: Array[cb.i16], halves: Array[cb.bf16]
) -> None:
    """LLVM stored the one lane that is on with the width it had before the truncation."""
    i = cb.ABSOLUTE_POS
    cb.sync_cube()  # so that a gang starts where the cube does, and masks are constants
    bytes_[i] = cb.u8(x[i] * 3)
    shorts[i] = cb.i16(x[i] * 5)
    halves[i] = cb.bf16(cb.f32(x[i]) * 0.5)


@pytest.mark.parametrize("target", cpu_targets())
@pytest.mark.parametrize("units", [1, 5, 17, 33])
def test_a_lone_lane_writes_its_own_element_only(target: str, units: int) -> None:
    x = np.arange(units, dtype=np.int32)
    outs = [np.full(40, 7, dtype) for dtype in (np.uint8, np.int16, ml_dtypes.bfloat16)]
    expected = [out.copy() for out in outs]
    for out, value in zip(expected, (x * 3, x * 5, x * np.float32(0.5)), strict=True):
        out[:units] = value.astype(out.dtype)
    narrowed_on_the_way_to_memory.launch(x, *outs, cube_count=1, cube_dim=units, device=target)
    for out, wanted in zip(outs, expected, strict=True):
        np.testing.assert_array_equal(out, wanted)


@cb.cube(plane_dim=64)
def narrow_in_wide_planes(
    x: Array[i32],
    bytes_: Array[cb.u8],
    shorts: Array[cb.i16],
    words: Array[cb.u32],
    halves: Array[cb.bf16],
) -> None:
    """A vector of 64 lanes is more than one register, which is what a piece of assembly takes."""
    i = cb.ABSOLUTE_POS
    total = cb.plane_exclusive_sum(x[i])
    if x[i] > 2:
        bytes_[i] = cb.u8(total)
        shorts[i] = cb.i16(total)
        words[i] = cb.u32(total)
        halves[i] = cb.bf16(cb.f32(total))


WIDE_OUTS = (np.uint8, np.int16, np.uint32, ml_dtypes.bfloat16)


@pytest.mark.parametrize("target", [each for each in cpu_targets() if gang_of(each) >= 64])
@pytest.mark.parametrize("units", [50, 64, 200])
def test_wide_planes_store_narrow_elements(target: str, units: int) -> None:
    x = (np.arange(units) % 7).astype(np.int32)
    results = []
    for device in (reference_for(target), target):
        outs = [np.full(units, 7, dtype) for dtype in WIDE_OUTS]
        narrow_in_wide_planes.over(units, device=device)(x, *outs)
        results.append(outs)
    for found, wanted in zip(*results, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_wide_planes_are_machine_code_for_every_level(level: str) -> None:
    outs = [np.zeros(64, dtype) for dtype in WIDE_OUTS]
    launch = narrow_in_wide_planes.over(64, device=f"cpu:{level}")
    assert launch.inspect(np.zeros(64, np.int32), *outs).asm


@cb.cube
def subscripts_kept_over_barriers(x: Array[i32], at: Array[i32], out: Array[i32]) -> None:
    """The subscript is kept over a barrier, the number of 32 bits that it was made of is not."""
    i = cb.UNIT_POS
    shared = cb.shared(i32, 64)
    j = at[i] ^ 3
    shared[i] = x[j]
    cb.sync_cube()
    read = x[j] + shared[63 - i]
    cb.sync_cube()
    out[i] = read + x[j]


@pytest.mark.parametrize("target", cpu_targets())
def test_subscripts_that_nothing_bounds_are_tested_behind_barriers(target: str) -> None:
    random = np.random.default_rng(1)
    x, at = np.arange(64, dtype=np.int32), random.integers(-5, 80, 64, np.int32)
    out = np.zeros(64, np.int32)
    subscripts = at ^ 3
    inside = (subscripts >= 0) & (subscripts < 64)
    read = np.where(inside, x[np.clip(subscripts, 0, 63)], 0)
    subscripts_kept_over_barriers.launch(x, at, out, cube_count=1, cube_dim=64, device=target)
    np.testing.assert_array_equal(out, 2 * read + read[::-1])


@cb.cube
def conditions_kept_over_barriers(x: Array[i32], out: Array[i32]) -> None:
    """The condition is kept over a barrier, the numbers it compares are not."""
    i = cb.UNIT_POS
    shared = cb.shared(i32, 64)
    below = cb.max(x[i], x[63 - i]) < 40 and x[i] > 3
    shared[i] = x[i]
    cb.sync_cube()
    if below:
        for k in range(3):
            out[i] += shared[(i + k) % 64]


@pytest.mark.parametrize("target", cpu_targets())
def test_conditions_are_asked_behind_barriers_as_they_were_kept(target: str) -> None:
    x = np.random.default_rng(2).integers(0, 64, 64, np.int32)
    out = np.zeros(64, np.int32)
    below = (np.maximum(x, x[::-1]) < 40) & (x > 3)
    conditions_kept_over_barriers.launch(x, out, cube_count=1, cube_dim=64, device=target)
    around = x + np.roll(x, -1) + np.roll(x, -2)
    np.testing.assert_array_equal(out, np.where(below, around, 0))


@cb.cube
def names_used_again_around_barriers(x: Array[i32], n: i32, out: Array[i32]) -> None:
    """`k` differs from unit to unit in the last loop only: the first still ends for all at once."""
    i = cb.UNIT_POS
    shared = cb.shared(i32, 64)
    shared[i] = x[i]
    for k in range(5):
        cb.sync_cube()
        out[i] += shared[(i + k) % 64]
        if k > n:
            break
    for k in range(x[i] % 4):
        k += x[i]  # noqa: PLW2901
        out[i] += i32(k)


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_a_name_used_again_does_not_stand_in_the_way_of_a_barrier(target: str) -> None:
    x = np.random.default_rng(3).integers(0, 64, 64, np.int32)
    out, trips = np.zeros(64, np.int32), x % 4
    names_used_again_around_barriers.launch(x, 2, out, cube_count=1, cube_dim=64, device=target)
    around = sum(np.roll(x, -k) for k in range(4))
    np.testing.assert_array_equal(out, around + trips * x + trips * (trips - 1) // 2)


@cb.cube
def halves_of_few_bits(
    x: Array[T], wide: Array[cb.f64], back: Array[T], SHIFT: Comptime[int]
) -> None:
    """LLVM takes an integer of few bits for exact in a half, however large it is."""
    i = cb.ABSOLUTE_POS
    half = cb.f16(x[i] << SHIFT)
    wide[i] = cb.f64(half)
    back[i] = x.dtype(half)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("share", [0.4, 0.6, 1.0])
def test_integers_of_few_bits_that_no_half_holds_are_infinite(dtype: Any, share: float) -> None:
    limits = np.iinfo(dtype)
    shift = int(share * (limits.bits - 1))
    x = np.arange(-16, 16).astype(dtype)
    wide, back = np.zeros(32), np.zeros(32, dtype)
    halves_of_few_bits.launch(x, wide, back, SHIFT=shift, cube_count=1, cube_dim=32, device="cpu")
    with np.errstate(over="ignore"):
        expected = (x << dtype(shift)).astype(np.float64).astype(np.float16).astype(np.float64)
    np.testing.assert_array_equal(wide, expected)
    inside = (expected >= limits.min) & (expected < float(limits.max))
    assert [int(value) for value in back] == [
        int(value) if fits else (limits.max if value > 0 else limits.min)
        for value, fits in zip(expected, inside, strict=True)
    ]
