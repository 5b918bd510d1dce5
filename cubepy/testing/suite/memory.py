"""What a device's memory must do: hold what was written, run out without harm, be used again."""

from __future__ import annotations

import gc
import threading

import numpy as np

from cubepy.errors import ArgumentError, OutOfMemoryError
from cubepy.runtime import device as find_device
from cubepy.testing.suite.subject import Array, Subject, arange, same

__all__ = ["MemorySuite"]

SIZES = (1, 7, 64, 1000, 65_537, 3_000_001)
HUGE = 1 << 62


def _random(size: int, seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8)


class MemorySuite(Subject):
    """Memories, buffers, the pool."""

    def test_the_name_leads_to_the_device(self) -> None:
        if isinstance(self.device, str):
            assert find_device(self.subject.name).name == self.subject.name
        assert self.subject.target.language
        assert self.subject.target.features.max_cube_units >= 1

    def test_memories_hold_what_was_written(self) -> None:
        device = self.subject
        memories = [device.alloc(size) for size in SIZES]
        for seed, (memory, size) in enumerate(zip(memories, SIZES, strict=True)):
            device.write(memory, _random(size, seed))
        for seed, (memory, size) in enumerate(zip(memories, SIZES, strict=True)):
            got = np.empty(size, np.uint8)
            device.read(memory, got)
            same(got, _random(size, seed))

    def test_the_start_of_a_memory_is_written_alone(self) -> None:
        device = self.subject
        memory = device.alloc(1000)
        device.write(memory, _random(1000, 1))
        device.write(memory, np.zeros(10, np.int32))
        device.write(memory, np.zeros((0, 3), np.int32))
        got = np.empty(1000, np.uint8)
        device.read(memory, got)
        same(got, np.concatenate([np.zeros(40, np.uint8), _random(1000, 1)[40:]]))
        prefix = np.empty((2, 3), np.int32)
        device.read(memory, prefix)
        same(prefix, np.zeros((2, 3), np.int32))

    def test_buffers_hold_every_type_and_shape(self) -> None:
        for type in self.scalars:
            for shape in ((), (1,), (0, 4), (2, 3, 5), (1, 1000)):
                data = arange(type, int(np.prod(shape))).reshape(shape)
                buffer = self.subject.array(data)
                assert (buffer.shape, buffer.dtype) == (shape, data.dtype)
                same(buffer.numpy(), data)
                other_order = np.asfortranarray(data).reshape(shape)
                same(self.subject.array(other_order).numpy(), data)

    def test_buffers_are_copies(self) -> None:
        data = np.arange(100)
        buffer = self.subject.array(data)
        data[:] = 0
        buffer.numpy()[:] = 1
        same(buffer.numpy(), np.arange(100))

    def test_buffers_go_to_another_device_and_back(self) -> None:
        data = np.arange(100, dtype=np.int32)
        moved = self.subject.array(data).to(find_device("reference"))
        same(moved.to(self.subject).numpy(), data)

    def test_wrong_buffers_are_refused(self) -> None:
        for shape, dtype in (((-1,), np.float32), ((3,), np.complex128), ((3,), "U4")):
            try:
                self.subject.empty(shape, dtype)
            except ArgumentError:
                continue
            raise AssertionError(f"a buffer of {dtype} with shape {shape} was made")

    def test_the_device_goes_on_after_it_had_no_room(self) -> None:
        device = self.subject
        kept = device.array(np.arange(1000))
        for _ in range(3):
            try:
                device.empty(HUGE, np.uint8)
            except OutOfMemoryError:
                pass
            else:
                raise AssertionError(f"{HUGE} bytes were promised")
            same(kept.numpy(), np.arange(1000))
            same(device.array(np.arange(10)).numpy(), np.arange(10))

    def test_memory_that_is_let_go_is_used_again(self) -> None:
        device = self.subject
        device.memory_cleanup()
        buffer = device.empty(100_000, np.uint8)
        before = device.memory_stats()
        del buffer
        gc.collect()
        for _ in range(10):
            device.empty(100_000, np.uint8)
        after = device.memory_stats()
        assert after.allocations == before.allocations
        assert after.reuses >= before.reuses + 10
        assert device.memory_cleanup() >= 100_000
        assert device.memory_stats().idle == 0

    def test_persistent_memory_is_counted_apart(self) -> None:
        device = self.subject
        with device.persistent_memory():
            kept = device.array(np.arange(1001, dtype=np.uint8))
        assert device.memory_stats().persistent >= kept.nbytes
        same(kept.numpy(), np.arange(1001, dtype=np.uint8))

    def test_threads_use_memory_at_once(self) -> None:
        device, wrong = self.subject, list[BaseException]()

        def work(seed: int) -> None:
            try:
                for number in range(20):
                    data = _random(1 + 997 * number, seed)
                    same(device.array(data).numpy(), data)
            except BaseException as error:  # noqa: BLE001 - raised below, where it is seen
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if wrong:
            raise wrong[0]
