"""The pool gives memory again and again, never to two at once, and survives having none left."""

import gc
import os
import random
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cubepy.errors import OutOfMemoryError
from cubepy.runtime import MemoryPool, size_class
from tests.unit.runtime.fake import FakeDevice


class Source:
    """Where a pool's memory comes from: a count of what is out, and a limit."""

    def __init__(self, limit: int = 1 << 40) -> None:
        self.limit = limit
        self.out = 0
        self.sizes: list[int] = []

    def __call__(self, size: int) -> Any:
        if self.out + size > self.limit:
            raise OutOfMemoryError(f"no room for {size} bytes")
        self.out += size
        self.sizes.append(size)
        return Block(self, size)


class Block:
    def __init__(self, source: Source, size: int) -> None:
        self.source, self.size = source, size

    def __del__(self) -> None:
        self.source.out -= self.size


@given(st.integers(1, 1 << 40))
def test_classes_waste_at_most_a_fifth_and_are_few(size: int) -> None:
    rounded = size_class(size)
    assert rounded >= size
    assert size <= 256 or size >= 0.8 * rounded
    assert size_class(rounded) == rounded


def test_there_are_four_classes_for_each_doubling() -> None:
    assert len({size_class(size) for size in range(1025, 2049)}) == 4


def test_what_is_let_go_is_given_again_at_once() -> None:
    source = Source()
    pool = MemoryPool(source)
    first = pool.take(1000)
    memory = first.memory
    del first
    assert pool.take(900).memory is memory
    assert pool.take(1024).memory is memory
    assert source.sizes == [1024]
    assert pool.stats.reuses == 2


def test_leases_held_at_once_never_share_memory() -> None:
    pool, chance = MemoryPool(Source()), random.Random(1)
    held: list[Any] = []
    for _ in range(2000):
        if held and chance.random() < 0.5:
            held.pop(chance.randrange(len(held)))
        held.append(pool.take(chance.randrange(1, 5000)))
        assert len({id(lease.memory) for lease in held}) == len(held)
        assert all(lease.memory.size >= lease.size for lease in held)
    stats = pool.stats
    assert stats.blocks == len(held)
    assert stats.in_use == sum(lease.size for lease in held)
    assert stats.peak >= stats.in_use


def test_memory_of_random_temporaries_stops_growing() -> None:
    source, chance = Source(), random.Random(2)
    pool = MemoryPool(source)
    sizes = []
    for number in range(10_000):
        held = [pool.take(chance.randrange(1, 1 << 24)) for _ in range(4)]
        if number in (999, 9999):
            sizes.append(source.out)
        del held
    assert sizes[1] <= 1.02 * sizes[0]


def test_idle_memory_is_given_back_before_giving_up() -> None:
    source = Source(limit=10_000)
    pool = MemoryPool(source)
    for size in (4096, 1024, 2048):
        pool.take(size)
    assert pool.stats.idle == 7168
    whole = pool.take(8192)
    assert pool.stats.idle == 0
    with pytest.raises(OutOfMemoryError) as caught:
        pool.take(8192)
    assert "8192 bytes in use" in caught.value.__notes__[0]
    small = pool.take(1024)
    del whole
    assert pool.take(8192).size == 8192
    del small


def test_idle_memory_has_a_limit() -> None:
    source = Source()
    pool = MemoryPool(source)
    for doubling in range(12, 28):
        for part in range(4, 8):
            pool.take(part << doubling - 2)
    largest = 7 << 25
    assert pool.stats.idle <= largest
    assert source.out <= 2 * largest


def test_cleanup_gives_all_idle_memory_back() -> None:
    source = Source()
    pool = MemoryPool(source)
    kept = pool.take(512)
    pool.take(4096)
    assert pool.cleanup() == 4096
    assert source.out == 512
    assert pool.cleanup() == 0
    del kept
    assert pool.cleanup() == 512


def test_persistent_blocks_have_their_size_and_do_not_wait() -> None:
    source = Source()
    pool = MemoryPool(source)
    with pool.persistent():
        kept = pool.take(1025)
        seen: list[int] = []
        thread = threading.Thread(target=lambda: seen.append(pool.take(1025).size))
        thread.start()
        thread.join()
    assert seen == [1280]
    assert kept.size == 1025
    assert pool.stats.persistent == 1025
    del kept
    assert pool.stats.persistent == 0
    pool.cleanup()
    assert source.out == 0
    assert pool.take(1025).size == 1280


def test_threads_and_the_garbage_collector_use_a_pool_at_once() -> None:
    pool = MemoryPool(Source())
    wrong: list[object] = []

    class Node:
        other: Any = None

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(1500):
            leases = [pool.take(chance.randrange(1, 4000)) for _ in range(3)]
            if len({id(lease.memory) for lease in leases}) != 3:
                wrong.append(leases)
            node = Node()
            node.other = (node, leases)  # freed by the collector, wherever that runs

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert wrong == []
    assert (pool.stats.in_use, pool.stats.blocks) == (0, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_can_use_the_pool_whatever_its_parent_was_doing() -> None:
    pool = MemoryPool(Source())
    with pool._lock:
        child = os.fork()
        if child == 0:
            os._exit(7 if pool.take(10).size == 256 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_buffers_come_from_the_pool_of_their_device() -> None:
    device = FakeDevice(host_memory=False)
    buffer = device.empty((10, 10), np.float32)
    assert device.memory_stats().in_use == 448
    del buffer
    again = device.empty(100, np.int32)
    assert device.memory_stats().reuses == 1
    with device.persistent_memory():
        kept = device.empty(1000, np.float32)
    assert device.memory_stats().persistent == 4000
    del again, kept
    assert device.memory_cleanup() == 448
