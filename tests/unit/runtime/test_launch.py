"""Launches on devices that share the host's memory and on devices that do not: the same results."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cubepy.errors import ArgumentError, LaunchError
from cubepy.ir import BF16, F32, F64, I32, Access, Scalar
from cubepy.runtime import (
    LoadedKernel,
    TargetedDevice,
    check_access,
    facts_of,
    grid_of,
    launch,
)
from tests.unit.runtime.fake import Array, FakeDevice, array, artifact

GRID = grid_of((1, 1, 1), (1, 1, 1))
READ, WRITE, BOTH = Access.READ, Access.WRITE, Access.READ_WRITE


def saxpy(rank: int = 1, element: Scalar = F32) -> LoadedKernel:
    def body(a: float, x: Array, y: Array) -> None:
        y[...] = a * x + y

    kind = array(element, rank)
    return LoadedKernel(
        artifact=artifact("saxpy", a=(element, READ), x=(kind, READ), y=(kind, BOTH)), handle=body
    )


def running_sum() -> LoadedKernel:
    def body(x: Array, out: Array) -> None:
        for number in range(1, len(x)):
            out[number] = x[number] + x[number - 1]

    return LoadedKernel(
        artifact=artifact("running_sum", x=(array(I32), READ), out=(array(I32), WRITE)),
        handle=body,
    )


@pytest.fixture(params=[True, False], ids=["host memory", "own memory"])
def device(request: pytest.FixtureRequest) -> FakeDevice:
    return FakeDevice(host_memory=request.param)


def views() -> dict[str, tuple[int, Any]]:
    """Ways to see memory, by name: their rank and what they make of a 12 × 12 array."""
    return {
        "plain": (2, lambda w: w),
        "transposed": (2, lambda w: w.T),
        "reversed": (2, lambda w: w[::-1, ::-1]),
        "strided": (2, lambda w: w[1::3, ::-2]),
        "column": (1, lambda w: w[:, 3]),
        "diagonal": (1, np.diagonal),
        "empty": (1, lambda w: w[3, 4:4]),
        "one": (2, lambda w: w[2:3, 5:6]),
    }


@pytest.mark.parametrize("view", views())
def test_arrays_of_any_layout(device: FakeDevice, view: str) -> None:
    rank, cut = views()[view]
    x, y = np.arange(144, dtype=np.float32).reshape(2, 12, 6).repeat(2, 2)
    x, y = x.copy(), np.flip(y).copy()
    seen = cut(y)
    seen = seen if seen.flags.writeable else y[0]
    expected_whole = y.copy()
    expected = cut(expected_whole) if cut(y).flags.writeable else expected_whole[0]
    source = cut(x) if cut(y).flags.writeable else x[0]
    expected[...] = 2.5 * source + expected
    launch(device, saxpy(rank), GRID, (2.5, source, seen))
    assert np.array_equal(y, expected_whole)


def test_only_written_arrays_are_copied_back(device: FakeDevice) -> None:
    launch(device, saxpy(), GRID, (2.0, np.ones(8, np.float32), np.ones(8, np.float32)))
    assert (device.writes, device.reads) == ((0, 0) if device.host_memory else (2, 1))


def test_overlapping_arguments_overlap_on_the_device(device: FakeDevice) -> None:
    whole = np.arange(10, dtype=np.int32)
    expected = whole.tolist()
    for number in range(1, 9):
        expected[number + 1] = expected[number] + expected[number - 1]
    launch(device, running_sum(), GRID, (whole[:9], whole[1:]))
    assert whole.tolist() == expected


def test_the_same_array_twice(device: FakeDevice) -> None:
    x = np.arange(6, dtype=np.float32)
    launch(device, saxpy(), GRID, (2.0, x, x))
    assert x.tolist() == [0, 3, 6, 9, 12, 15]


def test_bytes_between_written_elements_stay(device: FakeDevice) -> None:
    whole = np.arange(20, dtype=np.float32)
    launch(device, saxpy(), GRID, (0.0, np.zeros(5, np.float32), whole[::4]))
    assert np.array_equal(whole, np.arange(20, dtype=np.float32))


def test_fields_of_records_and_misaligned_arrays_work_through_copies(device: FakeDevice) -> None:
    records = np.zeros(5, np.dtype([("tag", "u1"), ("x", "<f8")]))
    records["tag"] = 9
    records["x"] = np.arange(5)
    misaligned = np.zeros(41, np.uint8)[1:].view(np.float64)
    misaligned[...] = 10
    launch(device, saxpy(element=F64), GRID, (2, records["x"], misaligned))
    assert misaligned.tolist() == [10, 12, 14, 16, 18]
    launch(device, saxpy(element=F64), GRID, (1.0, misaligned, records["x"]))
    assert records["x"].tolist() == [10, 13, 16, 19, 22]
    assert set(records["tag"]) == {9}


def test_misaligned_and_overlapping_is_refused(device: FakeDevice) -> None:
    raw = np.zeros(100, np.uint8)
    x, y = raw[1:49].view(np.float64), raw[9:57].view(np.float64)
    with pytest.raises(LaunchError, match=r"'x' is not aligned .* overlaps 'y'"):
        launch(device, saxpy(element=F64), GRID, (1.0, x, y))


def test_bfloat16(device: FakeDevice) -> None:
    x = np.arange(4).astype(ml_dtypes.bfloat16)
    y = np.ones(4, ml_dtypes.bfloat16)
    launch(device, saxpy(element=BF16), GRID, (2.0, x, y))
    assert y.astype(float).tolist() == [1, 3, 5, 7]


def test_buffers_stay_on_their_device(device: FakeDevice) -> None:
    x, y = device.array(np.arange(4, dtype=np.float32)), device.array(np.ones(4, np.float32))
    reads, writes = device.reads, device.writes
    launch(device, saxpy(), GRID, (3.0, x, y))
    assert (device.reads, device.writes) == (reads, writes)
    assert y.numpy().tolist() == [1, 4, 7, 10]


def test_a_buffer_and_an_array_mix(device: FakeDevice) -> None:
    x, y = device.array(np.arange(4, dtype=np.float32)), np.ones(4, np.float32)
    launch(device, saxpy(), GRID, (3.0, x, y))
    assert y.tolist() == [1, 4, 7, 10]


def test_a_buffer_of_another_device_is_refused(device: FakeDevice) -> None:
    other = FakeDevice(host_memory=True, name="elsewhere")
    distant, y = other.array(np.ones(4, np.float32)), np.ones(4, np.float32)
    with pytest.raises(LaunchError, match=r"'x' is on elsewhere, the launch on fake\n.*\.to\("):
        launch(device, saxpy(), GRID, (3.0, distant, y))
    targeted = TargetedDevice(device, "fake+gang=8", device.target.with_option("gang", "8"))
    x = targeted.array(np.ones(4, np.float32))
    launch(targeted, saxpy(), GRID, (3.0, x, x))
    assert x.numpy().tolist() == [4.0] * 4


def test_nothing_is_launched_without_cubes(device: FakeDevice) -> None:
    empty = np.zeros(0, np.float32)
    launch(device, saxpy(), grid_of((0, 1, 1), (8, 1, 1)), (1.0, empty, empty))
    assert (device.launches, device.writes) == (0, 0)


def test_a_scalar_that_does_not_fit_names_kernel_and_parameter(device: FakeDevice) -> None:
    x = np.ones(4, np.float32)
    with pytest.raises(ArgumentError, match="saxpy: argument 'a': 1e\\+39 is too large for f32"):
        launch(device, saxpy(), GRID, (1e39, x, x))
    with pytest.raises(ArgumentError, match="saxpy: argument 'x': expected an array, got int"):
        launch(device, saxpy(), GRID, (1.0, 3, x))


def test_read_only_and_broadcast_outputs_are_refused_and_inputs_are_not() -> None:
    frozen = np.ones(4, np.float32)
    frozen.flags.writeable = False
    plain = facts_of(np.ones(4, np.float32))
    repeated = facts_of(np.lib.stride_tricks.as_strided(np.ones(1, np.float32), (4,), (0,)))
    kernel = saxpy().artifact
    check_access(kernel, (None, facts_of(frozen), plain))
    check_access(kernel, (None, repeated, plain))
    with pytest.raises(ArgumentError, match=r"'y' is written .* read-only"):
        check_access(kernel, (None, plain, facts_of(frozen)))
    with pytest.raises(ArgumentError, match=r"'y' is written .* stride 0"):
        check_access(kernel, (None, plain, repeated))
