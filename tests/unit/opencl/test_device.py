"""OpenCL devices: memory, launches, streams, build logs, and what goes wrong without harm."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32
from cubepy.errors import (
    ArgumentError,
    AssertionFailed,
    BackendError,
    LaunchError,
    OutOfBoundsError,
    OutOfMemoryError,
    RuntimeUnavailable,
    UniformityError,
    UnsupportedError,
)
from cubepy.runtime import device
from cubepy.target import Target
from tests.opencl_devices import on_each, on_the_first

each = pytest.mark.parametrize("target", on_each())
one = pytest.mark.parametrize("target", on_the_first())

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


def numbers(size: int) -> Numbers:
    return np.random.default_rng(size).normal(size=size).astype(np.float32)


@each
@pytest.mark.parametrize("size", [1, 255, 256, 257, 100_000])
def test_arrays_of_the_host_are_copied_in_and_back(size: int, target: str) -> None:
    x, out = numbers(size), np.zeros(size, np.float32)
    scaled.over(size, device=target)(x, 0.5, out)
    np.testing.assert_array_equal(out, x * np.float32(0.5))


@one
def test_only_what_the_kernel_writes_is_copied_back(target: str) -> None:
    x, out = numbers(1000), np.zeros(1000, np.float32)
    x.flags.writeable = False
    scaled.over(1000, device=target)(x, 2.0, out)
    np.testing.assert_array_equal(out, x * 2)


@one
def test_buffers_stay_on_the_device_between_launches(target: str) -> None:
    there = device(target)
    x, out = there.array(numbers(500)), there.empty(500)
    launch = scaled.over(500)
    launch(x, 2.0, out)
    launch(out, 2.0, x)
    launch(out, 2.0, x)  # the very same arguments again
    np.testing.assert_array_equal(x.numpy(), numbers(500) * 4)
    launch(out, np.float32(0.25), x)
    np.testing.assert_array_equal(x.numpy(), numbers(500) / 2)


@one
def test_the_very_same_arguments_see_a_new_kernel_behind_a_changed_name(target: str) -> None:
    there = device(target)
    namespace: dict[str, Any] = {"cb": cb, "Array": Array, "f32": f32, "FACTOR": 2.0}
    text = (
        "@cb.cube\ndef by_name(x: Array[f32], out: Array[f32]):\n"
        "    i = cb.ABSOLUTE_POS\n    out[i] = x[i] * FACTOR\n"
    )
    cb.exec(text, namespace)
    x, out = there.array(numbers(64)), there.empty(64)
    launch = namespace["by_name"].over(64)
    for factor in (2.0, 2.0, 3.0, 3.0):
        namespace["FACTOR"] = factor
        launch(x, out)
        np.testing.assert_array_equal(out.numpy(), numbers(64) * np.float32(factor))


@each
def test_streams_events_and_captures_keep_the_order(target: str) -> None:
    there = device(target)
    x, out = there.array(np.ones(4096, np.float32)), there.empty(4096)
    launch = scaled.over(4096)
    launch(x, 2.0, out)
    first, second = there.stream(), there.stream()
    start = first.record()
    launch.on(first)(out, 3.0, x)  # after the launch without a stream
    launch.on(second)(x, 5.0, out)  # after the other stream's
    end = second.record()
    launch(out, 7.0, x)  # after both
    assert x.numpy().tolist() == [210.0] * 4096
    assert end.done
    assert end.since(start) > 0
    with cb.capture() as recording:
        launch(x, 0.5, out)
        launch(out, 1.0, x)
    recording.replay()
    recording.replay(first)
    first.synchronize()
    assert x.numpy().tolist() == [52.5] * 4096


@each
def test_a_fault_is_raised_with_its_line_and_the_next_launch_works(target: str) -> None:
    x, out = np.arange(300, dtype=np.int32), np.zeros(300, np.int32)
    launch = shifted.over(300, device=target, check="validate")
    with pytest.raises(OutOfBoundsError, match=r"subscript 3\d\d of `x` .* length 300") as caught:
        launch(x, 40, out)
    assert "out[i] = x[i + by]" in str(caught.value)
    launch(x, 0, out)
    np.testing.assert_array_equal(out, x)
    values = np.r_[np.zeros(300), 300].astype(np.int32)
    with pytest.raises(AssertionFailed, match="unit 44 of cube 1: found 300"):
        counted.over(301, device=target)(values, np.zeros(301, np.int32))


@one
def test_a_fault_on_a_stream_is_raised_where_it_is_waited_for(target: str) -> None:
    there = device(target)
    x, out = there.array(np.arange(300, dtype=np.int32)), there.empty(300, np.int32)
    stream = there.stream()
    shifted.over(300, check="validate").on(stream)(x, 40, out)
    with pytest.raises(OutOfBoundsError):
        stream.synchronize()
    stream.synchronize()


@one
def test_prints_come_in_the_order_of_units(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    @cb.cube
    def says(x: Array[i32]) -> None:
        i = cb.ABSOLUTE_POS
        if i % 100 == 7:
            print(i, x[i])

    says.over(300, device=target)(np.arange(300, dtype=np.int32))
    assert capsys.readouterr().out == "7 7\n107 107\n207 207\n"


@one
def test_what_does_not_fit_is_refused_and_does_no_harm(target: str) -> None:
    there = device(target)
    x, out = there.array(numbers(64)), there.empty(64)
    launch = scaled.over(64, device=target)
    with pytest.raises(LaunchError, match="is on cpu"):
        launch(cb.device("cpu").array(numbers(64)), 1.0, out)
    with pytest.raises(ArgumentError):
        launch(x, 1.0, np.zeros(64, np.complex64))
    with pytest.raises(OutOfMemoryError, match="that one buffer may have"):
        there.empty(1 << 60, np.uint8)
    too_many = there.target.features.max_cube_units + 1
    with pytest.raises(LaunchError, match="the device takes at most"):
        scaled.launch(x, 1.0, out, cube_count=1, cube_dim=too_many, device=target)
    launch(x, 1.0, out)
    np.testing.assert_array_equal(out.numpy(), numbers(64))


def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(RuntimeUnavailable, match="opencl"):
        device("opencl:99")


@each
def test_a_complaint_of_the_compiler_leads_to_the_line_of_the_kernel(target: str) -> None:
    x = numbers(8)
    stages = scaled.over(8, device=target).inspect(x, 1.0, x.copy())
    broken = re.sub(r"(\* launch\.factor)", r"\1 * nothing", stages.text)
    with pytest.raises(BackendError, match="nothing") as caught:
        device(target).load(replace(stages.artifact, text=broken))
    assert any("out[i] = x[i] * factor" in note for note in caught.value.__notes__)
    scaled.over(8, device=target)(x, 1.0, np.zeros(8, np.float32))


@one
def test_binaries_are_kept_and_work(target: str) -> None:
    there, x = device(target), numbers(8)
    artifact = scaled.over(8, device=target).inspect(x, 1.0, x.copy()).artifact
    binary = there.compile(artifact)
    assert there.load(replace(artifact, text="", binary=binary)).handle is not None
    with pytest.raises(BackendError):
        there.load(replace(artifact, text="", binary=b"not a program" * 20))


# ── planes ──────────────────────────────────────────────────────────────────────────────────────


@cb.cube(plane_dim=32)
def in_planes_of_32(x: Array[f32], out: Array[f32], votes: Array[cb.u64]) -> None:
    i = cb.ABSOLUTE_POS
    total = cb.plane_sum(x[i]) + cb.plane_shuffle_xor(x[i], 5) * cb.plane_max(x[i])
    out[i] = total + f32(cb.plane_inclusive_sum(i32(cb.UNIT_POS_PLANE)))
    votes[i] = cb.plane_ballot(x[i] > 0) + cb.u64(cb.PLANE_DIM)


@pytest.mark.parametrize("target", ["cpu", *on_each()])
@pytest.mark.parametrize("units", [32, 80, 17])
def test_a_kernel_has_the_planes_it_asks_for(units: int, target: str) -> None:
    results = []
    for name in ("reference", target):
        out, votes = np.zeros(2 * units, np.float32), np.zeros(2 * units, np.uint64)
        x = numbers(2 * units)
        in_planes_of_32.launch(x, out, votes, cube_count=2, cube_dim=units, device=name)
        results.append((out, votes))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_planes_through_local_memory_need_the_whole_cube() -> None:
    @cb.cube(plane_dim=4)
    def by_planes(x: Array[f32]) -> None:
        if cb.PLANE_POS > 0:
            x[cb.ABSOLUTE_POS] = cb.plane_sum(x[cb.ABSOLUTE_POS])

    with pytest.raises(UniformityError, match="the same for every unit of the cube"):
        by_planes[1, 64].inspect(numbers(64), target="opencl")


def test_what_a_device_lacks_is_refused_by_name() -> None:
    @cb.cube
    def adds(x: Array[cb.i64]) -> None:
        cb.atomic_add(x, 0, 1)

    known = Target.parse("opencl")
    lacking = replace(known, features=replace(known.features, atomics_64=False))
    x = np.zeros(4, np.int64)
    assert "atom_add" in adds.over(4).inspect(x, target=known).text
    with pytest.raises(UnsupportedError, match="no 64-bit atomics"):
        adds.over(4).inspect(x, target=lacking)
    without = replace(known, features=replace(known.features, types=frozenset({"f32"})))
    with pytest.raises(UnsupportedError, match="no f64"):
        doubled.over(4).inspect(np.zeros(4), target=without)


@cb.cube
def doubled(x: Array[cb.f64]) -> None:
    x[cb.ABSOLUTE_POS] *= 2.0


def test_the_target_needs_no_device() -> None:
    x = numbers(4)
    stages = scaled.over(4).inspect(x, 1.0, x.copy(), target="opencl")
    assert "kernel __attribute__" in stages.text
    with pytest.raises(UnsupportedError):
        _ = stages.asm


@cb.cube
def sines(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = cb.sin(x[i])


def test_a_long_way_that_few_take_is_a_loop_in_functions_only() -> None:
    x = numbers(8)
    text = sines.over(8).inspect(x, x.copy(), target="opencl").text
    functions, _, kernel = text.partition("kernel __attribute__")
    assert re.search(r"for \(bool rare = fabs\(\w+\) > 131072.0f; rare;", functions)
    assert "rare" not in kernel


@each
def test_units_that_take_the_long_way_do_not_disturb_others(target: str) -> None:
    x = numbers(1000)
    x[::7] *= 1e8
    x[3::100] = np.inf
    results = [np.zeros(1000, np.float32) for _ in range(2)]
    for name, out in zip(("reference", target), results, strict=True):
        sines.over(1000, device=name)(x, out)
    np.testing.assert_array_equal(results[0], results[1])


@each
def test_cubes_of_any_width_run_side_by_side(target: str) -> None:
    x = numbers(20_000)
    for cube_dim in (64, 48, 8, 5, (16, 4), (3, 32)):
        units = int(np.prod(cube_dim))
        count, out = 20_000 // units, np.zeros(20_000, np.float32)
        scaled.launch(x, 0.5, out, cube_count=count, cube_dim=cube_dim, device=target)
        done = count * units
        np.testing.assert_array_equal(out[:done], x[:done] * np.float32(0.5))
        assert not out[done:].any()
