"""Faults of kernels written in Python are reported with the lines of this file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, f32, i32
from cubepy.errors import (
    DataRaceError,
    NoProgressError,
    OutOfBoundsError,
    ReferenceFault,
    UninitializedReadError,
)


@cb.cube
def matmul(a: Tensor[f32], b: Tensor[f32], c: Tensor[f32]) -> None:
    tile_a = cb.shared(f32, (4, 4))
    tile_b = cb.shared(f32, (4, 4))
    tx, ty = cb.UNIT_POS_X, cb.UNIT_POS_Y
    col, row = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    total = 0.0
    for t in range(cb.cdiv(a.shape[1], 4)):
        tile_a[ty, tx] = a[row, t * 4 + tx]  # written
        tile_b[ty, tx] = b[t * 4 + ty, col]
        cb.sync_cube()
        for k in range(4):
            total += tile_a[ty, k] * tile_b[k, tx]  # read
        # a barrier is missing here
    c[row, col] = total


@cb.cube
def halves(x: Array[f32], out: Array[f32]) -> None:
    part = cb.shared(f32, 8)
    if cb.UNIT_POS < 4:
        part[cb.UNIT_POS] = x[cb.UNIT_POS]
    cb.sync_cube()
    out[cb.ABSOLUTE_POS] = part[7 - cb.UNIT_POS]  # unwritten


@cb.cube
def shifted(x: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    v = x[i + 1]  # neighbour
    x[i] = v  # own


@cb.cube
def lock(flag: Array[i32]) -> None:
    while cb.atomic_compare_exchange(flag, 0, 0, 1) != 0:  # waits
        pass
    cb.atomic_exchange(flag, 0, 0)


@cb.cube
def outside(x: Array[f32]) -> None:
    helper(x, cb.ABSOLUTE_POS)  # call


@cb.cube
def helper(x: Array[f32], i: cb.index) -> None:
    x[2 * i] = 1.0  # access


def line_of(mark: str) -> int:
    """The line of this file that ends in a comment."""
    lines = inspect.getsource(inspect.getmodule(line_of)).splitlines()  # type: ignore[arg-type]
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


def fault(kind: type[ReferenceFault], launch: Callable[[], Any]) -> ReferenceFault:
    with pytest.raises(kind) as caught:
        launch()
    return caught.value


def test_race_shows_both_lines() -> None:
    a = np.ones((4, 8), dtype=np.float32)
    found = fault(
        DataRaceError,
        lambda: matmul.launch(
            a, a.T.copy(), np.zeros((4, 4), np.float32), cube_count=1, cube_dim=(4, 4),
            device="reference",
        ),
    )  # fmt: skip
    assert found.loc.line == line_of("written")
    (note,) = found.diagnostics[0].notes
    assert note[1].line == line_of("read")
    assert "tile_a[ty, tx] = a[row, t * 4 + tx]" in str(found)
    assert "`tile_a[" in str(found)
    matmul.launch(
        a[:, :4].copy(), a[:, :4].copy(), np.zeros((4, 4), np.float32), cube_count=1,
        cube_dim=(4, 4), device="reference",
    )  # fmt: skip


def test_unwritten_memory_shows_its_line() -> None:
    x, out = np.zeros(8, np.float32), np.zeros(8, np.float32)
    found = fault(
        UninitializedReadError,
        lambda: halves.launch(x, out, cube_count=1, cube_dim=8, device="reference"),
    )
    assert found.loc.line == line_of("unwritten")
    assert "`part[7]`" in str(found)


def test_races_in_buffers_are_found_unless_told_otherwise() -> None:
    x = np.arange(8, dtype=np.int32)
    shifted.launch(x, cube_count=2, cube_dim=4, device="reference+races=shared")
    found = fault(
        DataRaceError,
        lambda: shifted.launch(x, cube_count=2, cube_dim=4, device="reference"),
    )
    assert found.loc.line == line_of("own")
    assert found.diagnostics[0].notes[0][1].line == line_of("neighbour")


def test_a_lock_between_units_of_a_cube_is_no_progress() -> None:
    flag = np.zeros(1, np.int32)
    lock.launch(flag, cube_count=3, cube_dim=1, device="reference")
    found = fault(
        NoProgressError, lambda: lock.launch(flag, cube_count=1, cube_dim=4, device="reference")
    )
    assert found.loc.line == line_of("waits")


def test_units_beyond_a_shape_are_not_named_where_nothing_goes_on() -> None:
    """Of a cube of 256 the launch asks for three units: one has the lock, two wait."""
    found = fault(NoProgressError, lambda: lock.over(3, device="reference")(np.zeros(1, np.int32)))
    said = found.diagnostics[0].message
    assert "unit 1 of cube 0 and 1 other unit go round" in said
    assert said.endswith("; unit 0 of cube 0 does not run meanwhile")


def test_access_outside_shows_the_call_too() -> None:
    x = np.zeros(4, np.float32)
    outside.launch(x, cube_count=1, cube_dim=4, device="reference")
    assert x.tolist() == [1, 0, 1, 0]
    with pytest.raises(OutOfBoundsError) as caught:
        outside.launch(x, cube_count=1, cube_dim=4, device="reference", check="validate")
    assert caught.value.loc.line == line_of("access")
    call = caught.value.loc.inlined_at
    assert call is not None
    assert call.line == line_of("call")
    assert "note: called from here" in str(caught.value)
