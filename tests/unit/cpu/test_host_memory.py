"""Memory of the CPU device: aligned, faulted in once, alive as long as anybody sees it."""

import gc
import sys
import weakref

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import OutOfMemoryError
from cubepy_cpu import host_memory

LARGE = 64 << 20


@pytest.mark.parametrize("size", [1, 63, 4096, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5_000_001])
def test_blocks_are_aligned_and_wholly_usable(size: int) -> None:
    blocks = [host_memory.allocate(size) for _ in range(3)]
    for number, block in enumerate(blocks):
        assert block.address % 64 == 0
        block.view((size,), np.dtype(np.uint8), block)[:] = number
    for number, block in enumerate(blocks):
        assert (block.view((size,), np.dtype(np.uint8), block) == number).all()


@pytest.mark.skipif(sys.platform != "linux", reason="faults are counted as Linux counts them")
def test_a_large_output_costs_no_page_faults_after_the_first() -> None:
    import resource  # noqa: PLC0415 - not on every system

    device = cb.device("cpu")

    def faults_of_a_buffer() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        buffer = device.empty(LARGE // 4, np.float32)
        assert buffer.view is not None
        buffer.view[:: 4096 // 4] = 1
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    faults_of_a_buffer()
    again = min(faults_of_a_buffer() for _ in range(3))
    assert again < 100  # of 16,384 pages
    device.memory_cleanup()


@pytest.mark.parametrize("size", [1 << 50, 1 << 62, 1 << 70])
def test_memory_that_is_not_there_is_an_error_and_the_device_goes_on(size: int) -> None:
    device = cb.device("cpu")
    with pytest.raises(OutOfMemoryError):
        device.empty(size, np.uint8)
    buffer = device.array(np.arange(5))
    assert buffer.numpy().tolist() == [0, 1, 2, 3, 4]


def test_views_keep_their_block_from_being_used_again() -> None:
    device = cb.device("cpu")
    buffer = device.array(np.full(1000, 7, np.int32))
    assert buffer.view is not None
    part, lease = buffer.view[500:], weakref.ref(buffer.lease)
    del buffer
    gc.collect()
    others = [device.array(np.zeros(1000, np.int32)) for _ in range(8)]
    assert (part == 7).all()
    assert lease() is not None
    del part, others
    gc.collect()
    assert lease() is None
