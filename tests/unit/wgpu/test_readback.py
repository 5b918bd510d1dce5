"""Reading back on wgpu: one submission and one mapping for all buffers, limits, a lost device."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32
from cubepy.errors import DeviceLostError
from tests.unit.wgpu.test_short_way import fresh, numbers
from tests.wgpu_devices import needs_wgpu

pytestmark = needs_wgpu


@cb.cube
def moved(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[i] + 1.0


def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the driver is given work, asked for a mapping, and waited for, from now on."""
    from wgpu.backends.wgpu_native import _api  # noqa: PLC0415 - where there is wgpu

    calls: Counter[str] = Counter()

    def count(kind: Any, name: str) -> None:
        before = getattr(kind, name)

        def counting(self: Any, *arguments: Any, **named: Any) -> Any:
            calls[name] += 1
            return before(self, *arguments, **named)

        monkeypatch.setattr(kind, name, counting)

    count(_api.GPUQueue, "submit")
    count(_api.GPUBuffer, "map_async")
    count(_api.GPUPromise, "sync_wait")
    return calls


def test_all_buffers_share_a_submission_and_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    device = fresh()
    arrays = [numbers(size) for size in range(1, 41)]
    buffers = [device.array(each) for each in arrays]
    out = device.empty(40)
    moved.over(40)(buffers[-1], out)
    device.sync()
    calls = counted(monkeypatch)
    readback = device.read_back(*buffers, out)
    assert calls == {"submit": 1, "map_async": 1}
    for got, expected in zip(readback.result(), [*arrays, arrays[-1] + np.float32(1)], strict=True):
        np.testing.assert_array_equal(got, expected)
    assert calls == {"submit": 1, "map_async": 1, "sync_wait": 1}


def test_more_than_one_buffer_may_have_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    device, chance = fresh(), np.random.default_rng(8)
    arrays = [chance.integers(0, 256, int(size), np.uint8) for size in chance.integers(0, 700, 30)]
    buffers = [device.array(each) for each in arrays]
    monkeypatch.setitem(device.__dict__, "_limits", {**device._limits, "max-buffer-size": 704})
    calls = counted(monkeypatch)
    readback = device.read_back(*buffers)
    assert calls["submit"] == 1
    assert sum(each.size for each in arrays) / 704 <= calls["map_async"] < 30
    for got, expected in zip(readback.result(), arrays, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_lost_device_gives_its_error() -> None:
    device = fresh()
    x = device.array(numbers(4000))
    device.handle.destroy()
    with pytest.raises(DeviceLostError, match=r"its name leads to a new device"):
        device.read_back(x)
    assert device.lost


@pytest.mark.parametrize("known", [False, True], ids=["not noticed", "noticed"])
def test_a_device_lost_on_the_way_is_no_endless_wait(*, known: bool) -> None:
    device = fresh()
    x, out = device.array(numbers(4000)), device.empty(4000)
    moved.over(4000)(x, out)
    readback = device.read_back(x, out)
    device.handle.destroy()
    if known:
        with pytest.raises(DeviceLostError):
            device.sync()
    for _ in range(2):
        with pytest.raises(DeviceLostError):
            readback.result()
    assert readback.done
    assert device.lost
