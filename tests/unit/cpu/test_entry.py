"""Calls in machine code: taken exactly when they mean what was learnt, and then with its effect."""

import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, i32
from cubepy.errors import LaunchError
from cubepy_cpu import probe
from tests.unit.cpu.launches import fresh, is_native, ones, saxpy

pytestmark = pytest.mark.skipif(bool(probe.why_not()), reason=probe.why_not())


FACTOR = 3


@cb.cube
def scaled(x: Array[i32], out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i] * FACTOR


@cb.cube
def reversed_in_cubes(x: Array[i32]) -> None:
    kept = cb.shared(i32, 64)
    kept[cb.UNIT_POS] = x[cb.ABSOLUTE_POS]
    cb.sync_cube()
    x[cb.ABSOLUTE_POS] = kept[63 - cb.UNIT_POS]


def test_a_launch_like_one_before_needs_no_python() -> None:
    x, y = ones(), ones()
    kernel = fresh(saxpy)
    launch = kernel.over(64)
    assert not is_native(launch, 2.0, x, y)
    assert is_native(launch, 2.0, x, y)
    assert is_native(kernel.over, 64)
    kernel.over(64)(2.0, x, y)
    assert set(y) == {7}
    result: object = launch(2.0, x, y)
    assert result is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: saxpy.over(64, device="cpu"),
        lambda: saxpy.over((4, 16), check="unchecked"),
        lambda: saxpy[2, 32],
        lambda: saxpy.launcher((1, 1), 64, "cpu+gang=8"),
        lambda: saxpy.over(64).prepare(2.0, ones(), ones()),
    ],
)
def test_every_way_to_launch_is_taken(make: Callable[[], Any]) -> None:
    launch, x, y = make(), ones(), ones()
    launch(2.0, x, y)
    assert is_native(launch, 2.0, x, y)
    assert set(y) == {5}


def test_changed_globals_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    launch = scaled.over(8)
    prepared = launch.prepare(x, out)
    for factor in (3, 5, 3, 7):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        for call in (launch, prepared):
            for _ in range(2):
                call(x, out)
                assert np.array_equal(out, factor * x)
            assert is_native(call, x, out)
    monkeypatch.delitem(globals(), "FACTOR")
    with pytest.raises(cb.errors.CubeError):
        launch(x, out)


def test_changed_closures_are_seen() -> None:
    amount = 1

    @cb.cube
    def add(out: Array[i32]) -> None:
        i = cb.ABSOLUTE_POS
        if i < len(out):
            out[i] += amount

    out = np.zeros(4, np.int32)
    launch = add.over(4)
    launch(out)
    assert is_native(launch, out)
    amount = 20
    launch(out)
    assert is_native(launch, out)
    assert set(out) == {42}


def test_shared_memory_is_ready() -> None:
    launch, x = reversed_in_cubes[3, 64], np.zeros(192, np.int32)
    for _ in range(3):
        x[:] = np.arange(192)
        launch(x)
        assert np.array_equal(x.reshape(3, 64), np.arange(192).reshape(3, 64)[:, ::-1])
    assert is_native(launch, x)


def test_another_default_device_is_seen() -> None:
    before = cb.default_device()
    y, launch = ones(), fresh(saxpy).over(64)
    launch(1.0, ones(), y)
    x = ones()
    assert is_native(launch, 1.0, x, y)
    try:
        cb.set_default_device("reference")
        assert not is_native(launch, 1.0, x, y)
        assert not is_native(launch, 1.0, x, y)
    finally:
        cb.set_default_device(before)
    launch(1.0, x, y)
    assert is_native(launch, 1.0, x, y)
    cb.set_default_device("reference")
    cb.set_default_device(before)
    launch(1.0, x, y)
    assert is_native(launch, 1.0, x, y)
    assert set(y) == {9}


@pytest.mark.parametrize(
    ("shape", "extent"),
    [(5, 5), (np.int64(5), 5), ((5,), 5), ([5], 5), ((1, 5), 5), (True, 1)],
)
def test_shapes_are_looked_up(shape: Any, extent: int) -> None:
    for _ in range(3):
        y = ones()
        saxpy.over(shape)(1.0, ones(), y)
        assert y[0] == 2
        assert y.tolist().count(2.0) == extent


def test_shapes_that_only_equal_a_size_are_refused() -> None:
    for size in (3, (3, 2)):
        saxpy.over(size)
        assert is_native(saxpy.over, size)
    for wrong in (3.0, (3.0, 2), (3, 2.0), "3"):
        for _ in range(2):
            with pytest.raises(LaunchError):
                saxpy.over(wrong)  # type: ignore[arg-type]


def test_no_reference_is_lost_or_kept() -> None:
    x, y = np.arange(64, dtype=np.float32), ones()
    launch = saxpy.over(64)
    launch(0.0, x, y)
    watched = (None, x, y, launch, x.dtype, 0.0, float)
    before = [sys.getrefcount(item) for item in watched]
    for _ in range(1000):
        launch(0.0, x, y)
        saxpy.over(64)(0.0, x, y)
    after = [sys.getrefcount(item) for item in watched]
    assert all(abs(late - early) < 50 for early, late in zip(before, after, strict=True))


def test_launchers_die_with_their_kernel() -> None:
    def define(amount: int) -> Any:
        @cb.cube
        def short_lived(out: Array[i32]) -> None:
            out[cb.ABSOLUTE_POS] += amount

        return short_lived

    out = np.zeros(4, np.int32)
    kernel = define(2)
    launch = kernel.over(4)
    for _ in range(3):
        launch(out)
    assert is_native(launch, out)
    alive = weakref.ref(kernel.function)
    del kernel
    gc.collect()
    launch(out)
    assert set(out) == {10}
    assert alive() is not None
    del launch
    gc.collect()
    assert alive() is None
