"""Reading back without waiting: one moment in the order of launches, whatever happens after it."""

import asyncio
import gc
import os
import pickle
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import ArgumentError, LaunchError, NotPicklable, OutOfBoundsError
from cubepy.ir import Access
from cubepy.runtime import Buffer, launch
from tests.opencl_devices import on_each
from tests.unit.runtime.fake import Array, FakeDevice
from tests.unit.runtime.test_stream_faults import run_script
from tests.unit.runtime.test_streams import GRID, SECONDS, Gate, fill, kernel, outside, step
from tests.wgpu_devices import on_wgpu

DEVICES = [*on_wgpu("reference", "cpu"), *on_each()]
DTYPES = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64]
DTYPES += [np.uint64, np.float16, np.float32, np.float64, ml_dtypes.bfloat16]


def random_array(chance: np.random.Generator) -> Array:
    shape = tuple(chance.integers(0, 7, size=int(chance.integers(0, 4))))
    octets = chance.integers(0, 100, size=shape)
    return np.asarray(octets).astype(DTYPES[int(chance.integers(len(DTYPES)))])


def same(got: Array, expected: Array) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("seed", range(4))
def test_any_mix_of_types_and_shapes_comes_back(name: str, seed: int) -> None:
    chance, device = np.random.default_rng(seed), cb.device(name)
    arrays = [random_array(chance) for _ in range(12)]
    buffers = [device.array(each) for each in arrays]
    readback = device.read_back(*buffers, stream=device.stream() if seed % 2 else None)
    for got, expected in zip(readback.result(), arrays, strict=True):
        same(got, expected)
    assert readback.done


@pytest.mark.parametrize("name", DEVICES)
def test_arrays_are_whole_and_the_callers_own(name: str) -> None:
    device = cb.device(name)
    x = device.array(np.arange(6, dtype=np.int16))
    readback = device.read_back(x, x)
    first, second = readback.result()
    first[:] = -1
    same(second, np.arange(6, dtype=np.int16))
    same(x.numpy(), np.arange(6, dtype=np.int16))
    assert first.flags.owndata
    assert readback.result()[0] is first
    assert device.read_back().result() == ()


@pytest.mark.parametrize("name", ["reference", "cpu"])
def test_strided_memory_of_others_comes_back_without_gaps(name: str) -> None:
    device, base = cb.device(name), np.arange(60, dtype=np.float32).reshape(6, 10)
    views = [base[::2, 1::3], base[::-1].T, base[3, ::-2], np.broadcast_to(base[0, 4], (3, 2))]
    buffers = [device.from_dlpack(each) for each in views]
    for got, expected in zip(device.read_back(*buffers).result(), views, strict=True):
        same(got, expected)
        assert got.flags.c_contiguous
        assert got.flags.writeable


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("on_stream", [False, True], ids=["no stream", "stream"])
def test_what_is_read_is_of_its_moment(name: str, *, on_stream: bool) -> None:
    device = cb.device(name)
    streams = [device.stream() if on_stream else None for _ in range(2)]
    x, y = (device.array(np.zeros(500, np.int32)) for _ in range(2))
    value, other, seen = 0, 0, []
    for number in range(20):
        for stream, buffer, add in zip(streams, (x, y), (number, 1), strict=True):
            given = step.over(500)
            (given.on(stream) if stream else given)(buffer, 3, add)
        value, other = value * 3 + number & 0xFFFF_FFFF, other * 3 + 1 & 0xFFFF_FFFF
        stream = streams[number // 2 % 2] if number % 2 else None
        seen.append((device.read_back(x, y, stream=stream), value, other))
    for readback, *expected in reversed(seen):
        for got, number in zip(readback.result(), expected, strict=True):
            same(got, np.full(500, number).astype(np.uint32).view(np.int32))


@pytest.mark.parametrize("name", DEVICES)
def test_buffers_may_be_let_go_or_written_by_the_host_before_the_result(name: str) -> None:
    device, stream = cb.device(name), cb.device(name).stream()
    waiting = []
    for number in range(30):
        x = device.array(np.full(3000, number, np.int32))
        step.over(3000).on(stream)(x, 1, 1)
        waiting.append(device.read_back(x))
        del x
    device.memory_cleanup()
    for number, readback in enumerate(waiting):
        same(readback.result()[0], np.full(3000, number + 1, np.int32))


@pytest.mark.parametrize("name", DEVICES)
def test_a_readback_that_nobody_wants_does_no_harm(name: str) -> None:
    device = cb.device(name)
    x = device.array(np.zeros(50_000, np.int32))
    for _ in range(20):
        step.over(50_000)(x, 1, 1)
        device.read_back(x)
        gc.collect()
    same(x.numpy(), np.full(50_000, 20, np.int32))


@pytest.mark.parametrize("name", DEVICES)
def test_launches_give_their_errors_to_the_result(name: str) -> None:
    device, stream = cb.device(name), cb.device(name).stream()
    x, y = device.array(np.zeros(4, np.float32)), device.array(np.arange(4, dtype=np.int32))
    outside.over(4, check="validate").on(stream)(x)
    readback = device.read_back(y, x)
    for _ in range(2):
        with pytest.raises(OutOfBoundsError):
            readback.result()
    same(device.read_back(y).result()[0], np.arange(4, dtype=np.int32))


@pytest.mark.parametrize("name", DEVICES)
def test_threads_read_side_by_side(name: str) -> None:
    device, wrong = cb.device(name), []
    stream = device.stream()

    def work(seed: int) -> None:
        chance = np.random.default_rng(seed)
        for _ in range(15):
            data = chance.integers(0, 1000, 700, dtype=np.int32)
            x = device.array(data)
            launcher = step.over(700)
            (launcher.on(stream) if seed % 2 else launcher)(x, 2, 1)
            readback = device.read_back(x, stream=stream if seed % 3 == 1 else None)
            launcher(x, 0, 0)
            if not np.array_equal(readback.result()[0], data * 2 + 1):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def gated(
    *, on_stream: bool, host_memory: bool = True
) -> tuple[FakeDevice, Buffer, Gate, cb.Readback]:
    """A readback behind a launch on a stream that waits at a gate before it fills with 5."""
    fake = FakeDevice(host_memory=host_memory)
    gate, stream, x = Gate(fill(5)), fake.stream(), fake.array(np.zeros(4, np.int32))
    launch(fake, kernel(gate, out=Access.WRITE), GRID, [x], stream)
    readback = fake.read_back(x, stream=stream if on_stream else None)
    assert gate.begun.wait(SECONDS)
    return fake, x, gate, readback


@pytest.mark.parametrize("on_stream", [False, True], ids=["no stream", "stream"])
def test_nobody_waits_before_the_result_is_wanted(*, on_stream: bool) -> None:
    _, _, gate, readback = gated(on_stream=on_stream, host_memory=False)
    assert not readback.done
    assert "on its way" in repr(readback)
    with pytest.raises(TimeoutError):
        readback.result(timeout=0.0)
    gate.open.set()
    same(readback.result(SECONDS)[0], np.full(4, 5, np.int32))
    assert readback.done


@pytest.mark.parametrize("elsewhere", [False, True], ids=["no stream", "other stream"])
@pytest.mark.parametrize("on_stream", [False, True], ids=["no stream", "stream"])
def test_later_writers_wait_for_the_read(*, on_stream: bool, elsewhere: bool) -> None:
    fake, x, gate, readback = gated(on_stream=on_stream)
    late = Gate(fill(9))
    late.open.set()
    stream = fake.stream() if elsewhere else None
    given = kernel(late, out=Access.WRITE)
    follow = threading.Thread(target=launch, args=(fake, given, GRID, [x], stream))
    follow.start()
    assert not late.begun.wait(0.05)
    gate.open.set()
    follow.join()
    same(readback.result()[0], np.full(4, 5, np.int32))
    same(x.numpy(), np.full(4, 9, np.int32))


def test_a_read_waits_for_the_writers_of_its_buffers_only() -> None:
    fake, x, gate, readback = gated(on_stream=False)
    y = fake.array(np.arange(3, dtype=np.int32))
    assert fake.read_back(y).done
    gate.open.set()
    same(readback.result()[0], np.full(4, 5, np.int32))
    assert x.size == 4


def test_threads_of_reads_end() -> None:
    before = set(threading.enumerate())
    for _ in range(5):
        _, _, gate, readback = gated(on_stream=False)
        gate.open.set()
        readback.result()
        del readback, gate, _
    gc.collect()
    new = set(threading.enumerate()) - before
    for thread in new:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in new)


def test_an_event_loop_goes_on_meanwhile() -> None:
    fake, x, gate, readback = gated(on_stream=True)

    async def wait() -> Any:
        return await readback

    async def both() -> Any:
        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0.01)
        assert not waiting.done()
        gate.open.set()
        return await waiting

    (got,) = asyncio.run(both())
    same(got, np.full(4, 5, np.int32))
    assert x.device is fake


def test_wrong_arguments_are_refused() -> None:
    device, other = cb.device("cpu"), cb.device("reference")
    x = device.array(np.zeros(4, np.int32))
    host: Any = np.zeros(4)
    with pytest.raises(ArgumentError, match=r"argument 1 is .*only buffers are read back"):
        device.read_back(x, host)
    with pytest.raises(LaunchError, match=r"argument 0 is on cpu, the read on reference"):
        other.read_back(x)
    with pytest.raises(LaunchError, match=r"the stream is of reference"):
        device.read_back(x, stream=other.stream())
    with pytest.raises(LaunchError, match=r"is no stream"):
        device.read_back(x, stream=host)
    with cb.capture(), pytest.raises(LaunchError, match=r"inside a capture"):
        device.read_back(x)
    with pytest.raises(NotPicklable, match=r"send the arrays"):
        pickle.dumps(device.read_back(x))


def test_a_device_with_another_target_reads_the_same_memory() -> None:
    x = cb.device("cpu:x86-64-v2").array(np.arange(4))
    same(cb.device("cpu:x86-64-v3").read_back(x).result()[0], np.arange(4))


@pytest.mark.parametrize("name", DEVICES)
def test_a_program_may_end_with_reads_on_their_way(name: str, tmp_path: Any) -> None:
    done = run_script(
        tmp_path,
        f"""
device = cb.device({name!r})
stream = device.stream()
x = device.array(np.zeros(1 << 14, np.int32))
run.on(stream)(x, SHORT)
left = [device.read_back(x), device.read_back(x, stream=stream), device.read_back(x)]
print("end", flush=True)
""",
    )
    assert done == "end\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("name", DEVICES)
def test_the_child_of_a_fork_is_told_or_has_it(name: str, tmp_path: Any) -> None:
    done = run_script(
        tmp_path,
        f"""
device = cb.device({name!r})
stream = device.stream()
x = device.array(np.zeros(1 << 14, np.int32))
run.on(stream)(x, SHORT)
pending = device.read_back(x)
child = os.fork()
if not child:
    try:
        got = pending.result()
        os._exit(0 if set(got[0].tolist()) == {{1}} else 3)
    except LaunchError:
        os._exit(0)
    except BaseException as error:
        print(error, flush=True)
        os._exit(4)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert set(pending.result()[0].tolist()) == {{1}}
print("end", flush=True)
os._exit(0)
""",
    )
    assert done == "end\n"
