"""Captured launches: nothing happens at first, and on every replay what would have happened."""

import random
import threading

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32
from cubepy.errors import ArgumentError, LaunchError, OutOfBoundsError
from cubepy.runtime import switches
from cubepy_cpu import threads

DEVICES = ["reference", "cpu"]


@cb.cube
def step(x: Array[i32], factor: i32, add: i32) -> None:
    i = cb.ABSOLUTE_POS
    x[i] = x[i] * factor + add


@cb.cube
def scale(x: Array[f32], out: Array[f32], factor: f32) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[i] * factor


@cb.cube
def reversed_in_cubes(x: Array[i32]) -> None:
    kept = cb.shared(i32, 64)
    kept[cb.UNIT_POS] = x[cb.ABSOLUTE_POS]
    cb.sync_cube()
    x[cb.ABSOLUTE_POS] = kept[63 - cb.UNIT_POS]


@cb.cube
def outside(x: Array[f32]) -> None:
    x[cb.ABSOLUTE_POS + 100] = 1.0


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> cb.Device:
    return cb.device(request.param)


def test_captured_launches_are_done_on_replay(device: cb.Device) -> None:
    x = np.ones(300, np.int32)
    run = step.over(300, device=device)
    run(x, 1, 0)
    with cb.capture() as recording:
        run(x, 3, 1)
        step.over(7, device=device)(x, 1, 10)
        run(add=2, factor=5, x=x)
        run.prepare(x, 1, 1)(x, 1, 1)
        step.over(0, device=device)(x, 0, 0)
    assert set(x) == {1}
    assert len(recording) == 4
    expected = x.copy()
    for _ in range(5):
        recording.replay()
        expected = expected * 3 + 1
        expected[:7] += 10
        expected = expected * 5 + 3
        assert np.array_equal(x, expected)
    x[:] = 0
    recording.replay()
    assert set(x) == {8, 58}


def test_numbers_are_those_of_the_capture_and_arrays_those_of_the_replay(
    device: cb.Device,
) -> None:
    x, out = np.ones(20, np.float32), np.zeros(20, np.float32)
    factor = np.array(2.0, np.float32)
    with cb.capture() as recording:
        scale.over(20, device=device)(x, out, factor)
    factor[...] = 100
    x[:] = 3
    recording.replay()
    assert set(out) == {6}


def test_buffers_strides_shared_memory_and_large_launches(device: cb.Device) -> None:
    size = 1 << 16 if device.name == "cpu" else 256
    x, whole = device.array(np.arange(size, dtype=np.int32)), np.arange(512, dtype=np.int32)
    strided = whole[::-2]
    with cb.capture() as recording:
        reversed_in_cubes.launcher(size // 64, 64, device)(x)
        step.over(size, device=device)(x, 2, 1)
        step.over(256, device=device)(strided, 1, 1000)
    for _ in range(2):
        recording.replay()
    expected = np.arange(size, dtype=np.int32)
    for _ in range(2):
        expected = 2 * expected.reshape(-1, 64)[:, ::-1].reshape(-1) + 1
    assert np.array_equal(x.numpy(), expected)
    assert np.array_equal(whole[1::2], np.arange(512)[1::2] + 2000)
    assert np.array_equal(whole[::2], np.arange(512)[::2])


def test_faults_are_reported_on_replay(device: cb.Device) -> None:
    x = np.zeros(4, np.float32)
    with cb.capture() as recording:
        outside.over(4, device=device, check="validate")(x)
    for _ in range(2):
        with pytest.raises(OutOfBoundsError):
            recording.replay()


def test_an_array_made_read_only_since_is_refused_and_keeps_what_it_holds(
    device: cb.Device,
) -> None:
    x, out = np.ones(20, np.float32), np.zeros(20, np.float32)
    run = scale.over(20, device=device)
    run(x, out, 1.0)
    with cb.capture() as recording:
        run(x, out, 2.0)
        run(x, out, 3.0)
    x.setflags(write=False)  # which the kernel only reads
    recording.replay()
    assert set(out) == {3}
    out.setflags(write=False)
    for stream in (None, device.stream()):
        with pytest.raises(ArgumentError, match=r"'out' is written .* read-only"):
            recording.replay(stream)
    assert set(out) == {3}
    out.setflags(write=True)
    out[:] = 0
    recording.replay()
    assert set(out) == {3}


def test_arrays_stay_alive() -> None:
    def record() -> cb.Recording:
        x = np.ones(100_000, np.int32)
        with cb.capture() as recording:
            step.over(x.size)(x, 2, 0)
        return recording

    recordings = [record() for _ in range(20)]
    others = [np.ones(100_000, np.int32) for _ in range(20)]
    for recording in recordings:
        recording.replay()
    assert all((each == 1).all() for each in others)


def test_a_replay_on_a_stream(device: cb.Device) -> None:
    stream, x = device.stream(), device.array(np.zeros(50, np.int32))
    with cb.capture() as recording:
        step.over(50)(x, 2, 1)
        step.over(50)(x, 3, 0)
    recording.replay(stream)
    step.over(50).on(stream)(x, 1, 1)
    recording.replay()
    assert set(x.numpy()) == {27}
    other = cb.device("cpu" if device.name == "reference" else "reference").stream()
    with pytest.raises(LaunchError, match="the stream is of"):
        recording.replay(other)


def test_other_threads_go_on_during_a_capture() -> None:
    x, y = np.zeros(8, np.int32), np.zeros(8, np.int32)
    with cb.capture() as recording:
        thread = threading.Thread(target=lambda: step.over(8)(y, 1, 1))
        thread.start()
        thread.join()
        step.over(8)(x, 1, 1)
    assert not x.any()
    assert np.all(y == 1)
    assert len(recording) == 1


def test_what_a_capture_refuses() -> None:
    x, stream = np.zeros(8, np.int32), cb.device("cpu").stream()
    closed = switches.closed
    with cb.capture() as recording:
        step.over(8)(x, 1, 1)
        with pytest.raises(LaunchError, match="going on in this thread already"), cb.capture():
            pass
        with pytest.raises(LaunchError, match="give the stream to replay"):
            step.over(8).on(stream)(x, 1, 1)
        with pytest.raises(LaunchError, match="inside a capture"):
            recording.replay()
    assert switches.closed == closed
    with pytest.raises(ZeroDivisionError), cb.capture():
        step.over(8)(x, 1, 1 // 0)
    assert switches.closed == closed
    step.over(8)(x, 1, 1)
    assert set(x) == {1}


def test_random_recordings_do_what_the_launches_do() -> None:
    chance = random.Random(11)
    for _ in range(20):
        arrays = [np.arange(200, dtype=np.int32) for _ in range(3)]
        steps = [chance.choice((1, 2, -1)) for _ in range(chance.randrange(1, 30))]
        calls = [
            (chance.randrange(3), slice(None, None, step), chance.randrange(9), chance.randrange(9))
            for step in steps
        ]
        with cb.capture() as recording:
            for number, part, factor, add in calls:
                view = arrays[number][part]
                step.over(len(view))(view, factor, add)
        recording.replay()
        expected = [np.arange(200, dtype=np.int32) for _ in range(3)]
        for number, part, factor, add in calls:
            expected[number][part] = expected[number][part] * factor + add
        for got, wanted in zip(arrays, expected, strict=True):
            assert np.array_equal(got, wanted)


def test_threads_are_there_for_replays_after_their_number_changed() -> None:
    x = np.zeros(1 << 20, np.int32)
    with cb.capture() as recording:
        step.over(x.size)(x, 1, 1)
    try:
        for count in (1, 3, 2):
            threads.set_num_threads(count)
            recording.replay()
    finally:
        threads.set_num_threads(None)
    assert set(x) == {3}
