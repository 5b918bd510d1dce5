"""Buffers hold what was put in, in the shape it had."""

import numpy as np
import pytest

from cubepy.errors import ArgumentError
from cubepy.runtime import facts_of
from tests.unit.runtime.fake import FakeDevice


@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (2, 3, 4)])
def test_content_and_shape_come_back(shape: tuple[int, ...]) -> None:
    device = FakeDevice(host_memory=False)
    data = np.array(np.random.default_rng(1).normal(size=shape), order="F")
    buffer = device.array(data)
    assert (buffer.shape, buffer.ndim, buffer.dtype) == (shape, len(shape), data.dtype)
    assert (buffer.size, buffer.nbytes) == (data.size, data.nbytes)
    back = buffer.numpy()
    assert np.array_equal(back, data)
    assert facts_of(buffer).classes == facts_of(np.ascontiguousarray(data).reshape(shape)).classes


def test_a_buffer_is_a_copy() -> None:
    device = FakeDevice(host_memory=True)
    data = np.arange(4)
    buffer = device.array(data)
    data[0] = 9
    first = buffer.numpy()
    first[1] = 9
    assert buffer.numpy().tolist() == [0, 1, 2, 3]


def test_to_another_device() -> None:
    here, there = FakeDevice(host_memory=True), FakeDevice(host_memory=False, name="there")
    buffer = here.array(np.arange(4))
    assert buffer.to(here) is buffer
    moved = buffer.to(there)
    assert moved.device is there
    assert moved.numpy().tolist() == [0, 1, 2, 3]
    assert "there" in repr(moved)


def test_wrong_buffers_are_refused() -> None:
    device = FakeDevice(host_memory=True)
    with pytest.raises(ArgumentError, match="no element type of kernels is complex128"):
        device.empty(3, np.complex128)
    with pytest.raises(ArgumentError, match=r"shape \(-1,\)"):
        device.empty(-1)
    assert len(device.empty((3, 2))) == 3
    with pytest.raises(TypeError, match="without axes"):
        len(device.empty(()))
