"""Streams: order within one, freedom between two, waiting only where memory is shared."""

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import f32, i32
from cubepy.errors import LaunchError, OutOfBoundsError
from cubepy.ir import I32, Access
from cubepy.runtime import Buffer, LoadedKernel, WorkerStream, grid_of, launch, switches
from tests.unit.runtime.fake import Array, FakeDevice, array, artifact

DEVICES = ["reference", "cpu"]
GRID = grid_of((1, 1, 1), (1, 1, 1))
SECONDS = 30.0


@cb.cube
def step(x: cb.Array[i32], factor: i32, add: i32) -> None:
    i = cb.ABSOLUTE_POS
    x[i] = x[i] * factor + add


@cb.cube
def copy(x: cb.Array[i32], out: cb.Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[i]


@cb.cube
def outside(x: cb.Array[f32]) -> None:
    x[cb.ABSOLUTE_POS + 100] = 1.0


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> cb.Device:
    return cb.device(request.param)


@pytest.fixture(autouse=True)
def _calls_are_open_afterwards() -> Iterator[None]:
    before = switches.closed
    yield
    deadline = time.monotonic() + SECONDS
    while switches.closed != before and time.monotonic() < deadline:
        time.sleep(0.001)
    assert switches.closed == before


class Gate:
    """A kernel that says it has begun and goes on when told to."""

    def __init__(self, effect: Callable[..., None] = lambda *_: None) -> None:
        self.begun, self.open = threading.Event(), threading.Event()
        self._effect = effect

    def __call__(self, *arguments: Any) -> None:
        self.begun.set()
        assert self.open.wait(SECONDS)
        self._effect(*arguments)


def kernel(body: Callable[..., None], **access: Access) -> LoadedKernel:
    parameters = {name: (array(I32), each) for name, each in access.items()}
    return LoadedKernel(artifact=artifact("body", **parameters), handle=body)


def fill(value: int) -> Callable[..., None]:
    def body(*arguments: Array) -> None:
        arguments[-1][...] = value

    return body


def test_launches_of_one_stream_happen_in_order(device: cb.Device) -> None:
    stream, x = device.stream(), device.array(np.zeros(1000, np.int32))
    launch_on = step.over(1000).on(stream)
    expected = 0
    for number in range(40):
        launch_on(x, 3, number)
        expected = expected * 3 + number
    assert set(x.numpy()) == {np.int64(expected).astype(np.int32)}


def test_a_launch_returns_before_it_is_done() -> None:
    fake = FakeDevice(host_memory=True)
    gate, stream, x = Gate(fill(5)), fake.stream(), fake.array(np.zeros(4, np.int32))
    launch(fake, kernel(gate, out=Access.WRITE), GRID, [x], stream)
    event = stream.record()
    assert gate.begun.wait(SECONDS)
    seen = [event.done]
    gate.open.set()
    event.wait()
    assert [*seen, event.done] == [False, True]
    assert set(x.numpy()) == {5}


def test_two_streams_do_not_wait_for_each_other() -> None:
    fake = FakeDevice(host_memory=True)
    gates = [Gate(), Gate()]
    streams = [fake.stream(), fake.stream()]
    buffers = [fake.empty(4, np.int32) for _ in gates]
    for gate, stream, x in zip(gates, streams, buffers, strict=True):
        launch(fake, kernel(gate, out=Access.WRITE), GRID, [x], stream)
    assert all(gate.begun.wait(SECONDS) for gate in gates)
    for gate in gates:
        gate.open.set()
    for stream in streams:
        stream.synchronize()


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        (Access.WRITE, Access.READ, True),
        (Access.READ, Access.WRITE, True),
        (Access.WRITE, Access.WRITE, True),
        (Access.READ, Access.READ, False),
        (Access.UNKNOWN, Access.READ, True),
    ],
)
@pytest.mark.parametrize("elsewhere", [True, False], ids=["other stream", "no stream"])
def test_launches_wait_for_those_whose_memory_they_need(
    first: Access, second: Access, *, waits: bool, elsewhere: bool
) -> None:
    fake = FakeDevice(host_memory=True)
    early, late = Gate(), Gate()
    late.open.set()
    x = fake.array(np.zeros(4, np.int32))
    launch(fake, kernel(early, x=first), GRID, [x], fake.stream())
    assert early.begun.wait(SECONDS)
    other = fake.stream() if elsewhere else None
    follow = threading.Thread(target=launch, args=(fake, kernel(late, x=second), GRID, [x], other))
    follow.start()
    assert late.begun.wait(0.05 if waits else SECONDS) is not waits
    early.open.set()
    follow.join()
    assert late.begun.wait(SECONDS)
    x.numpy()


def test_reading_a_buffer_waits_for_its_writer_only() -> None:
    fake = FakeDevice(host_memory=False)
    gate, stream = Gate(fill(7)), fake.stream()
    x, y = (fake.array(np.zeros(4, np.int32)) for _ in range(2))
    launch(fake, kernel(gate, x=Access.READ, out=Access.WRITE), GRID, [x, y], stream)
    assert gate.begun.wait(SECONDS)
    assert set(x.numpy()) == {0}
    threading.Timer(0.05, gate.open.set).start()
    assert set(y.numpy()) == {7}


def test_memory_that_is_let_go_is_not_written_under_a_launch() -> None:
    """The next buffer on the same block waits until the launch has read the old content."""
    fake = FakeDevice(host_memory=False)
    seen: list[int] = []
    gate, stream = Gate(lambda x: seen.append(int(x[0]))), fake.stream()
    x = fake.array(np.full(4, 3, np.int32))
    launch(fake, kernel(gate, x=Access.READ), GRID, [x], stream)
    assert gate.begun.wait(SECONDS)
    del x
    gc.collect()
    threading.Timer(0.05, gate.open.set).start()
    y = fake.array(np.full(4, 9, np.int32))
    stream.synchronize()
    assert seen == [3]
    assert set(y.numpy()) == {9}


def test_errors_do_not_pass_on_with_the_memory() -> None:
    fake = FakeDevice(host_memory=False)
    stream, other = fake.stream(), fake.stream()

    def fail(*_: Array) -> None:
        assert gate.wait(SECONDS)
        raise LaunchError("an error of before")

    for late in (False, True):
        gate = threading.Event()
        x = fake.array(np.zeros(64, np.int32))
        launch(fake, kernel(fail, out=Access.WRITE), GRID, [x], stream)
        memory = x.memory
        if not late:
            gate.set()
            with pytest.raises(LaunchError, match="of before"):
                stream.synchronize()
        del x
        threading.Timer(0.05, gate.set).start()
        y = fake.empty(64, np.int32)
        assert y.memory is memory
        launch(fake, kernel(fill(3), out=Access.WRITE), GRID, [y], other)
        other.synchronize()
        assert set(y.numpy()) == {3}
        if late:
            with pytest.raises(LaunchError, match="of before"):
                stream.synchronize()


def test_events_order_streams_by_hand() -> None:
    fake = FakeDevice(host_memory=True)
    gate, order = Gate(lambda *_: order.append("first")), list[str]()
    one, two = fake.stream(), fake.stream()
    launch(fake, kernel(gate), GRID, [], one)
    two.wait(one.record())
    launch(fake, kernel(lambda: order.append("second")), GRID, [], two)
    assert gate.begun.wait(SECONDS)
    gate.open.set()
    two.synchronize()
    assert order == ["first", "second"]


def test_events_tell_the_time_between_them(device: cb.Device) -> None:
    stream, x = device.stream(), device.array(np.zeros(10_000, np.int32))
    before = stream.record()
    for _ in range(3):
        step.over(10_000).on(stream)(x, 1, 1)
    after = stream.record()
    assert 0 < after.since(before) < SECONDS
    assert after.done
    alone = device.record()
    assert device.record().since(alone) >= 0


def test_host_arrays_are_ready_when_the_call_returns(device: cb.Device) -> None:
    stream = device.stream()
    x, out = np.arange(500, dtype=np.int32), np.zeros(500, np.int32)
    copy.over(500).on(stream)(x, out)
    assert np.array_equal(out, x)
    for staged in (x[::-1], np.frombuffer(b"\0" + x.tobytes(), np.int32, 500, 1)):
        copy.over(500).on(stream)(staged, out)
        assert np.array_equal(out, staged)


def test_an_error_is_raised_where_it_is_waited_for(device: cb.Device) -> None:
    stream, x = device.stream(), device.array(np.zeros(4, np.float32))
    y = device.array(np.zeros(4, np.int32))
    outside.over(4, check="validate").on(stream)(x)
    step.over(4).on(stream)(y, 1, 1)
    with pytest.raises(OutOfBoundsError):
        stream.record().wait()
    with pytest.raises(OutOfBoundsError):
        x.numpy()
    x.numpy()
    with pytest.raises(OutOfBoundsError):
        stream.synchronize()
    with pytest.raises(OutOfBoundsError):
        y.numpy()  # what was behind it has been dropped, and whoever needs it is told so
    assert set(y.numpy()) == {0}
    step.over(4).on(stream)(y, 1, 2)
    stream.synchronize()
    assert set(y.numpy()) == {2}


def test_streams_and_launches_must_be_of_one_device() -> None:
    stream = cb.device("reference").stream()
    with pytest.raises(LaunchError, match="on cpu, the stream is of reference"):
        step.over(4, device="cpu").on(stream)
    x = cb.device("cpu").array(np.zeros(4, np.int32))
    with pytest.raises(LaunchError, match="'x' is on cpu"):
        step.over(4).on(stream)(x, 1, 1)
    targeted = cb.device("cpu+gang=8")
    y = targeted.array(np.zeros(4, np.int32))
    step.over(4, device=targeted).on(cb.device("cpu").stream())(y, 1, 1)
    assert set(y.numpy()) == {1}


def test_calls_in_machine_code_wait_for_streams_too() -> None:
    device = cb.device("cpu")
    stream, x = device.stream(), device.array(np.zeros(1000, np.int32))
    plain, on_stream = step.over(1000), step.over(1000).on(stream)
    for _ in range(3):
        plain(x, 1, 0)
    for _ in range(100):
        on_stream(x, 1, 1)
        on_stream(x, 1, 1)
        plain(x, 2, 0)
        assert len(set(x.numpy())) == 1
        plain(x, 0, 0)
    assert set(x.numpy()) == {0}


def test_many_threads_use_one_stream(device: cb.Device) -> None:
    stream, x = device.stream(), device.array(np.zeros(8, np.int32))
    launch_on = step.over(8).on(stream)

    def work() -> None:
        for _ in range(25):
            launch_on(x, 1, 1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(x.numpy()) == {150}


def test_a_stream_that_nobody_holds_ends_after_its_work() -> None:
    fake = FakeDevice(host_memory=True)
    gate = Gate(fill(5))
    x = fake.array(np.zeros(4, np.int32))

    def give() -> threading.Thread:
        stream = fake.stream()
        launch(fake, kernel(gate, out=Access.WRITE), GRID, [x], stream)
        assert isinstance(stream, WorkerStream)
        thread = stream._worker._thread
        assert thread is not None
        return thread

    thread = give()
    assert gate.begun.wait(SECONDS)
    gate.open.set()
    assert set(x.numpy()) == {5}
    gc.collect()
    thread.join(SECONDS)
    assert not thread.is_alive()


def test_buffers_are_kept_until_the_launch_is_done() -> None:
    fake = FakeDevice(host_memory=True)
    gate, stream = Gate(), fake.stream()

    def give() -> weakref.ref[Any]:
        x: Buffer = fake.array(np.zeros(4, np.int32))
        launch(fake, kernel(gate, x=Access.READ), GRID, [x], stream)
        return weakref.ref(x.memory)

    memory = give()
    gc.collect()
    fake.memory_cleanup()
    assert memory() is not None
    gate.open.set()
    stream.synchronize()
