"""Memory of a wgpu device: what launches keep of it, and what is more than a buffer may have."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32
from cubepy.errors import OutOfMemoryError
from cubepy.runtime import registry
from cubepy_wgpu import commands
from tests.wgpu_devices import NAME, needs_wgpu

pytestmark = needs_wgpu


def fresh() -> Any:
    """A device of its own, whose limits a test may change."""
    known: Any = registry().runtime(NAME).devices()[0]
    return type(known)(known._adapter, 97)


@cb.cube
def added(x: Array[f32], y: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    y[i] = y[i] + x[i]


def numbers(size: int) -> Any:
    return np.random.default_rng(size).normal(size=size).astype(np.float32)


@pytest.mark.parametrize("persistent", [True, False])
def test_no_launch_keeps_memory_that_the_pool_gave_up(*, persistent: bool) -> None:
    there = fresh()
    kept = there.array(numbers(4000))
    launch = added.over(4000)

    def once() -> "weakref.ref[Any]":
        if persistent:
            with there.persistent_memory():
                buffer = there.array(numbers(4000))
        else:
            buffer = there.array(numbers(4000))
        for _ in range(3):
            launch(buffer, kept)
        return weakref.ref(buffer.memory)

    memory = once()
    gc.collect()
    if not persistent:
        assert memory() is not None  # it waits in the pool
    there.memory_cleanup()
    gc.collect()
    assert memory() is None
    other = there.array(numbers(4000))
    launch(other, kept)
    np.testing.assert_allclose(kept.numpy(), 5 * numbers(4000), rtol=1e-5)


def test_arrays_above_the_limit_of_a_binding_are_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = fresh()
    x = there.array(numbers(4096))
    few = {**there._limits, "max-storage-buffer-binding-size": 16384}
    monkeypatch.setitem(there.__dict__, "_limits", few)
    host = numbers(4097)
    with pytest.raises(OutOfMemoryError, match="are more than the 16384 that one buffer may have"):
        added.over(4096, device=there)(x, host)
    with pytest.raises(OutOfMemoryError, match="are more than the 16384 that one buffer may have"):
        there.empty(4097)
    np.testing.assert_array_equal(x.numpy(), numbers(4096))
    np.testing.assert_array_equal(host, numbers(4097))
    y = there.array(numbers(4000))  # and the next launch works
    added.over(4000)(x, y)
    np.testing.assert_array_equal(y.numpy(), numbers(4000) + numbers(4096)[:4000])


@pytest.mark.parametrize("direct", [True, False])
def test_dispatches_by_either_way_are_the_same(
    *, direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if direct and commands._DIRECT is None:
        pytest.skip("this version of wgpu-py is not known")
    if not direct:
        monkeypatch.setattr(commands, "_DIRECT", None)
    there = fresh()
    x, y = there.array(numbers(3000)), there.array(np.zeros(3000, np.float32))
    for _ in range(4):
        added.over(3000)(x, y)
    np.testing.assert_allclose(y.numpy(), 4 * numbers(3000), rtol=1e-6)
