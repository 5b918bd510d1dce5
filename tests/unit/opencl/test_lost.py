"""A lost OpenCL device: its own error, buffers that say so, and a new one behind the name.

No driver for processors can be made to lose its device, so the driver's answer is put in at its
call: the code that drivers of GPUs give.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32
from cubepy.errors import DeviceLostError
from cubepy.runtime import device
from tests.opencl_devices import on_the_first

cl: Any = pytest.importorskip("pyopencl")
one = pytest.mark.parametrize("target", on_the_first())


@cb.cube
def scaled(x: Array[f32], factor: f32, out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[i] * factor


def numbers(size: int) -> Any:
    return np.random.default_rng(size).normal(size=size).astype(np.float32)


class Gone(cl.RuntimeError):  # type: ignore[misc]  # pyopencl has no types
    """What pyopencl raises when the driver says that the device is not there any more."""

    code = cl.status_code.DEVICE_NOT_AVAILABLE

    def __str__(self) -> str:
        return "clEnqueueNDRangeKernel failed: DEVICE_NOT_AVAILABLE"


def gone(*given: Any, **named: Any) -> Any:
    raise Gone


@one
@pytest.mark.parametrize("call", ["enqueue_nd_range_kernel", "enqueue_copy", "Buffer"])
def test_the_name_of_a_lost_device_leads_to_a_new_one(
    call: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = device(target)
    x, out = before.array(numbers(300)), before.empty(300)
    launch = scaled.over(300)
    for _ in range(2):
        launch(x, 2.0, out)
    doing: dict[str, Callable[[], object]] = {
        "enqueue_nd_range_kernel": lambda: launch(x, 2.0, out),
        "enqueue_copy": out.numpy,
        "Buffer": lambda: before.alloc(1 << 20),
    }
    with monkeypatch.context() as patch:
        patch.setattr(cl, call, gone)
        with pytest.raises(DeviceLostError, match=r"its name leads to a new device"):
            doing[call]()
    assert before.lost
    after = device(target)
    assert after is not before
    assert not after.lost
    for _ in range(3):
        host = np.zeros(300, np.float32)
        scaled.over(300, device=target)(numbers(300), 3.0, host)
        np.testing.assert_array_equal(host, numbers(300) * np.float32(3))
    again, result = after.array(numbers(300)), after.empty(300)
    for _ in range(3):
        scaled.over(300)(again, 4.0, result)
    np.testing.assert_array_equal(result.numpy(), numbers(300) * np.float32(4))


@one
def test_reading_back_from_a_lost_device_says_so(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = device(target)
    x = before.array(numbers(300))
    with monkeypatch.context() as patch:
        patch.setattr(cl, "enqueue_copy", gone)
        with pytest.raises(DeviceLostError, match=r"its name leads to a new device"):
            before.read_back(x, x)
    assert before.lost
    after = device(target)
    (again,) = after.read_back(after.array(numbers(300))).result()
    np.testing.assert_array_equal(again, numbers(300))
