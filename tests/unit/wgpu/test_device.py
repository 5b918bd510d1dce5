"""A wgpu device: memory, launches in parts, shared bindings, strict floats, errors without harm."""

import itertools
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32, u8
from cubepy.errors import (
    AssertionFailed,
    BackendError,
    DeviceLostError,
    LaunchError,
    OutOfBoundsError,
    OutOfMemoryError,
)
from cubepy.runtime import device, registry
from tests.same_bits import same_on_both
from tests.wgpu_devices import NAME, needs_wgpu, wgpu_with

pytestmark = needs_wgpu
Numbers = np.ndarray[Any, np.dtype[Any]]


@cb.cube
def scaled(x: Array[f32], factor: f32, out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[i] * factor


@cb.cube
def shifted(x: Array[i32], by: i32, out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[i + by]


@cb.cube
def counted(x: Array[i32], out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    assert x[i] < 100, f"found {x[i]}"
    out[i] = x[i]


@cb.cube
def placed(out: Array[i32]) -> None:
    out[cb.ABSOLUTE_POS] = i32(cb.CUBE_POS * 1000 + cb.UNIT_POS)


@cb.cube
def odd_bytes(out: Array[u8]) -> None:
    i = cb.ABSOLUTE_POS
    if i % 2 == 1:
        out[i] = u8(i)


def numbers(size: int) -> Numbers:
    return np.random.default_rng(size).normal(size=size).astype(np.float32)


@pytest.mark.parametrize("size", [1, 255, 257, 100_000])
def test_arrays_of_the_host_are_copied_in_and_back(size: int) -> None:
    x, out = numbers(size), np.zeros(size, np.float32)
    x.flags.writeable = False
    scaled.over(size, device=NAME)(x, 0.5, out)
    np.testing.assert_array_equal(out, x * np.float32(0.5))


def test_buffers_stay_on_the_device_between_launches() -> None:
    there = device(NAME)
    x, out = there.array(numbers(500)), there.empty(500)
    launch = scaled.over(500)
    launch(x, 2.0, out)
    launch(out, 2.0, x)
    launch(out, 2.0, x)  # the very same arguments again
    np.testing.assert_array_equal(x.numpy(), numbers(500) * 4)


def test_launches_beyond_the_limit_of_an_axis_come_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there: Any = device(NAME)
    few = {**there._limits, "max-compute-workgroups-per-dimension": 3}
    monkeypatch.setitem(there.__dict__, "_limits", few)
    for count in ((7, 1, 1), (4, 5, 2)):
        units = count[0] * count[1] * count[2] * 8
        results = []
        for name in ("reference", NAME):
            out = np.zeros(units, np.int32)
            placed.launch(out, cube_count=count, cube_dim=(4, 2, 1), device=name)
            results.append(out)
        np.testing.assert_array_equal(results[0], results[1])


def test_neighbours_of_narrow_elements_survive() -> None:
    out = np.full(1001, 77, np.uint8)
    odd_bytes.over(1001, device=NAME)(out)
    expected = np.full(1001, 77, np.uint8)
    expected[1::2] = np.arange(1, 1001, 2)
    np.testing.assert_array_equal(out, expected)
    whole = np.arange(64, dtype=np.uint8)
    odd_bytes.over(13, device=NAME)(whole[3:16])
    expected = np.arange(64, dtype=np.uint8)
    expected[4:16:2] = np.arange(1, 13, 2)
    np.testing.assert_array_equal(whole, expected)


@cb.cube
def smeared(x: Array[i32], y: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    y[i] = x[i] * 10


def test_overlapping_arrays_share_a_binding() -> None:
    whole = np.arange(101, dtype=np.int32)
    smeared.over(30, device=NAME)(whole[:60:2], whole[1:61:2])
    expected = np.arange(101, dtype=np.int32)
    expected[1:61:2] = np.arange(0, 60, 2) * 10
    np.testing.assert_array_equal(whole, expected)
    same = device(NAME).array(np.arange(64, dtype=np.int32))
    smeared.over(64)(same, same)
    np.testing.assert_array_equal(same.numpy(), np.arange(64) * 10)


@cb.cube
def two_types(bits: Array[cb.u16], words: Array[cb.i64], out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    words[i] = words[i] + (cb.i64(bits[4 * i]) << 40)
    bits[4 * i] = bits[4 * i] + 3
    out[i] = i32(words[i] >> 33)


def test_memory_seen_as_several_types_is_one() -> None:
    results = []
    for name in ("reference", NAME):
        words = np.arange(20, dtype=np.int64) * 0x1_0001_0101
        out = np.zeros(20, np.int32)
        two_types.over(20, device=name)(words.view(np.uint16), words, out)
        results.append((words, out))
    for first, second in zip(*results, strict=True):
        np.testing.assert_array_equal(first, second)


def test_what_a_kernel_does_not_touch_is_bound_nevertheless() -> None:
    @cb.cube
    def idle(out: Array[f32]) -> None:
        if cb.UNIT_POS == 3:
            out[3] = 1.0

    out = np.zeros(8, np.float32)
    idle.launch(out, cube_count=1, cube_dim=8, device=NAME, check="unchecked")
    assert out.tolist() == [0, 0, 0, 1, 0, 0, 0, 0]

    @cb.cube
    def nothing(out: Array[f32]) -> None:
        for k in cb.unroll(range(0)):
            out[k] = 1.0

    nothing.launch(out, cube_count=1, cube_dim=8, device=NAME)
    assert out.sum() == 1


# ── floats ──────────────────────────────────────────────────────────────────────────────────────


@cb.cube
def tempting(x: Array[f32], y: Array[f32], out: cb.Tensor[f32]) -> None:
    """What compilers of shaders rewrite where nobody keeps them from it."""
    i = cb.ABSOLUTE_POS
    a, b = x[i], y[i]
    out[0, i] = (a + b) - a
    out[1, i] = a * 0.0
    out[2, i] = a - a
    out[3, i] = a * 3.0 * 5.0
    out[4, i] = a * b + a
    out[5, i] = a + 0.0
    out[6, i] = a / a
    out[7, i] = (a + 12582912.0) - 12582912.0
    out[8, i] = cb.select(a != a, 1.0, 2.0)  # noqa: PLR0124
    out[9, i] = 1.0 if not (a < b) else 0.0
    out[10, i] = cb.fma(a, b, a)
    out[11, i] = a / b + cb.sqrt(abs(a)) * 1.0


@cb.cube
def in_integers(x: Array[f32], y: Array[f32], z: Array[f32], out: cb.Tensor[f32]) -> None:
    """What a device may not do right, and then is done in integers."""
    i = cb.ABSOLUTE_POS
    out[0, i] = cb.fma(x[i], y[i], z[i])
    out[1, i] = x[i] / y[i]
    out[2, i] = cb.sqrt(x[i])
    out[3, i] = cb.fmod(x[i], y[i])
    out[4, i] = x[i] // y[i]
    out[5, i] = x[i] % y[i]


def operands(count: int, seed: int) -> Numbers:
    """Bits by chance, ordinary numbers, special ones."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32)
    special = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38], np.float32)
    near = random.uniform(-2, 2, count).astype(np.float32)
    return np.concatenate([bits.view(np.float32), near, random.choice(special, count)])


def test_floats_are_not_rewritten() -> None:
    arrays = [operands(3000, 1), operands(3000, 2)]
    same_on_both(tempting, arrays, [np.zeros((12, arrays[0].size), np.float32)], device(NAME))


def test_arithmetic_in_integers_is_exact() -> None:
    subject = wgpu_with(doubles=False, fma=False, exact_division=False)
    random = np.random.default_rng(9)
    arrays = [random.permutation(operands(1500, seed)) for seed in (3, 4, 5)]
    with np.errstate(all="ignore"):
        arrays[2][::3] = -(arrays[0] * arrays[1])[::3]  # sums that cancel
    same_on_both(in_integers, arrays, [np.zeros((6, arrays[0].size), np.float32)], subject)


# ── time ────────────────────────────────────────────────────────────────────────────────────────


@cb.cube
def halved(x: Array[f32], trips: i32) -> None:
    i = cb.ABSOLUTE_POS
    value = x[i]
    for _ in range(trips):
        value = value * 0.5 + 1.0
    x[i] = value


def test_events_tell_the_time_of_the_device() -> None:
    there: Any = device(NAME)
    if "timestamp-query" not in there.handle.features:
        pytest.skip("the device has no timestamps")
    x, stream = there.array(numbers(64)), there.stream()
    halved.over(64)(x, 1)
    events = [there.record(), stream.record()]
    for trips in (1, 60_000):
        halved.over(64).on(stream)(x, trips)
        events.append(stream.record())
    first, same, short, long = (event.seconds for event in events)
    assert first == same <= short < long
    # not the host's clock: what was waited before the launch does not count
    time.sleep(0.3)
    halved.over(64)(x, 1)
    assert there.record().seconds > long
    assert there.record().since(there.record()) == 0


def test_profiles_have_the_time_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    there: Any = device(NAME)
    if "timestamp-query" not in there.handle.features:
        pytest.skip("the device has no timestamps")
    from cubepy_wgpu.code import Code  # noqa: PLC0415 - its library is not always there

    x = there.array(numbers(64))
    launch = halved.over(64)
    launch(x, 1)
    encode = Code.encode

    def held_up(*arguments: Any) -> None:
        time.sleep(1.5)
        encode(*arguments)

    with cb.profile() as profile:
        with monkeypatch.context() as patched:
            patched.setattr(Code, "encode", held_up)
            launch(x, 1)
        for _ in range(3):  # a machine can be busy with other things during one
            launch(x, 1)
        launch(x, 60_000)
        halved.over(0)(x, 1)
    waited, *short, long = profile.launches[:5]
    assert 0 < waited.seconds < 1  # what the host waited does not count
    assert 0 < min(each.seconds for each in short) < long.seconds
    for earlier, later in itertools.pairwise([waited, *short, long]):
        assert earlier.end < later.begin


def test_a_time_is_still_known_after_many_launches() -> None:
    there: Any = device(NAME)
    x = there.array(numbers(8))
    launch = halved.over(8)
    launch(x, 1)
    before = there.record()
    asked = there.record().seconds
    for _ in range(1100):  # more than there are places for
        launch(x, 1)
    assert before.seconds == asked < there.record().seconds


# ── what goes wrong ─────────────────────────────────────────────────────────────────────────────


def test_a_fault_is_raised_with_its_line_and_the_next_launch_works() -> None:
    x, out = np.arange(300, dtype=np.int32), np.zeros(300, np.int32)
    launch = shifted.over(300, device=NAME, check="validate")
    with pytest.raises(OutOfBoundsError, match=r"subscript 3\d\d of `x` .* length 300") as caught:
        launch(x, 40, out)
    assert "out[i] = x[i + by]" in str(caught.value)
    launch(x, 0, out)
    np.testing.assert_array_equal(out, x)
    values = np.r_[np.zeros(300), 300].astype(np.int32)
    with pytest.raises(AssertionFailed, match="unit 44 of cube 1: found 300"):
        counted.over(301, device=NAME)(values, np.zeros(301, np.int32))


def test_prints_come_in_the_order_of_units(capsys: pytest.CaptureFixture[str]) -> None:
    @cb.cube
    def says(x: Array[i32]) -> None:
        i = cb.ABSOLUTE_POS
        if i % 100 == 7:
            print(i, x[i])

    says.over(300, device=NAME)(np.arange(300, dtype=np.int32))
    assert capsys.readouterr().out == "7 7\n107 107\n207 207\n"


def test_what_does_not_fit_is_refused_and_does_no_harm() -> None:
    there = device(NAME)
    x, out = there.array(numbers(64)), there.empty(64)
    launch = scaled.over(64, device=NAME)
    with pytest.raises(LaunchError, match="is on cpu"):
        launch(cb.device("cpu").array(numbers(64)), 1.0, out)
    with pytest.raises(OutOfMemoryError, match="that one buffer may have"):
        there.empty(1 << 60, np.uint8)
    with pytest.raises(LaunchError, match="at most 1073741824 units"):
        scaled.over(1 << 31, device=NAME)(x, 1.0, out)
    with pytest.raises(LaunchError, match="'x' has more than 1073741824 elements"):
        launch(np.broadcast_to(np.float32(1), 1 << 31), 1.0, out)
    launch(x, 1.0, out)
    np.testing.assert_array_equal(out.numpy(), numbers(64))


def test_a_complaint_of_the_compiler_leads_to_the_line_of_the_kernel() -> None:
    x = numbers(8)
    stages = scaled.over(8, device=NAME).inspect(x, 1.0, x.copy())
    broken = re.sub(r"(\* launch\.factor)", r"\1 * nothing", stages.text)
    with pytest.raises(BackendError, match="nothing") as caught:
        device(NAME).load(replace(stages.artifact, text=broken))
    assert any("out[i] = x[i] * factor" in note for note in caught.value.__notes__)
    scaled.over(8, device=NAME)(x, 1.0, np.zeros(8, np.float32))


def test_a_device_that_is_lost_says_so() -> None:
    adapter: Any = registry().runtime(NAME).devices()[0]
    lost = type(adapter)(adapter._adapter, 99)
    x = lost.array(numbers(16))
    scaled.over(16)(x, 2.0, x)
    lost.handle.destroy()
    doing: list[Callable[[], object]] = [
        lambda: lost.empty(1_000_000),
        lambda: scaled.over(16)(x, 2.0, x),
        lost.sync,
    ]
    for work in doing:
        with pytest.raises(DeviceLostError, match=r"its name leads to a new device"):
            work()
    scaled.over(8, device=NAME)(numbers(8), 1.0, np.zeros(8, np.float32))


def test_the_name_of_a_lost_device_leads_to_a_new_one() -> None:
    before: Any = device(NAME)
    x, out = before.array(numbers(300)), before.empty(300)
    launch = scaled.over(300, device=NAME)
    launch(x, 2.0, out)
    launch(x, 2.0, out)
    before.handle.destroy()
    with pytest.raises(DeviceLostError):
        launch(x, 2.0, out)
    assert before.lost
    for _ in range(3):
        host = np.zeros(300, np.float32)
        scaled.over(300, device=NAME)(numbers(300), 3.0, host)
        np.testing.assert_array_equal(host, numbers(300) * np.float32(3))
    after = device(NAME)
    assert after is not before
    assert not after.lost
    with pytest.raises(DeviceLostError):
        x.numpy()
    with pytest.raises(DeviceLostError):
        launch(x, 2.0, out)
    again, result = after.array(numbers(300)), after.empty(300)
    for _ in range(3):
        scaled.over(300)(again, 4.0, result)
    np.testing.assert_array_equal(result.numpy(), numbers(300) * np.float32(4))
