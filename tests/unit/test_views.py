"""Slices, rows, other shapes and layouts of arrays, against NumPy, on every gang width."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cubepy as cb
from cubepy import Array, Comptime, Tensor, f32, i32, i64
from cubepy.errors import OutOfBoundsError

DEVICES = ("reference+races=shared", "cpu+gang=4", "cpu", "cpu+gang=64")
BOUNDS = st.one_of(st.none(), st.integers(-3, 14))
STEPS = st.one_of(st.none(), st.sampled_from([1, 2, 3, 7, -1, -2, -5, 0, 100, -100]))
SLICES = st.builds(slice, BOUNDS, BOUNDS, STEPS)


def selected(array: np.ndarray, part: slice) -> np.ndarray:
    """What a kernel's slice selects of the first axis: nothing counts from the end."""
    size, step = array.shape[0], 1 if part.step is None else part.step
    if step == 0:
        return array[:0]
    low, high = (0, size) if step > 0 else (-1, size - 1)
    start = (low if step > 0 else high) if part.start is None else min(max(part.start, low), high)
    stop = (high if step > 0 else low) if part.stop is None else min(max(part.stop, low), high)
    places = list(range(start, stop, step))
    return array[places]


def padded(array: np.ndarray, count: int) -> np.ndarray:
    """The first elements, zeros behind the end."""
    out = np.zeros(count, array.dtype)
    out[: min(count, array.size)] = array[:count]
    return out


# ── slices of one axis ───────────────────────────────────────────────────────────────────────────


@cb.cube
def at_run_time(
    x: Array[f32], out: Array[f32], sizes: Array[i64], lo: i64, hi: i64, step: i64,
    kind: Comptime[str],
) -> None:  # fmt: skip
    i = cb.ABSOLUTE_POS
    if kind == "lo:hi:step":
        part = x[lo:hi:step]
    elif kind == "lo:hi:":
        part = x[lo:hi]
    elif kind == "lo::step":
        part = x[lo::step]
    elif kind == ":hi:step":
        part = x[:hi:step]
    elif kind == "lo::":
        part = x[lo:]
    elif kind == ":hi:":
        part = x[:hi]
    elif kind == "::step":
        part = x[::step]
    else:
        part = x[:]
    out[i] = part[i - 1]
    sizes[0] = len(part)


@cb.cube
def while_compiling(x: Array[f32], out: Array[f32], sizes: Array[i64], part: Comptime[Any]) -> None:
    i = cb.ABSOLUTE_POS
    view = x[part[0] : part[1] : part[2]]
    out[i] = view[i - 1]
    sizes[0] = view.size


@given(SLICES, st.integers(0, 12), st.sampled_from([1, 2, -1, -3]), st.sampled_from(DEVICES))
@settings(max_examples=150)
def test_slices(part: slice, size: int, stride: int, device: str) -> None:
    whole = np.arange(1, 1 + 40, dtype=np.float32)
    x = whole[39::stride][:size] if stride < 0 else whole[::stride][:size]
    wanted = np.concatenate([[0], padded(selected(x, part), 19)])
    given = (part.start, part.stop, part.step)
    names = ("lo", "hi", "step")
    kind = ":".join(n if bound is not None else "" for n, bound in zip(names, given, strict=True))
    bounds = [0 if bound is None else bound for bound in given]
    out, sizes = np.full(20, -1, np.float32), np.zeros(1, np.int64)
    at_run_time.over(20, device=device)(x, out, sizes, *bounds, kind)
    assert (out == wanted).all(), (part, x, out)
    assert sizes[0] == selected(x, part).size
    if part.step != 0 and all(bound is None or bound >= 0 for bound in (part.start, part.stop)):
        out, sizes = np.full(20, -1, np.float32), np.zeros(1, np.int64)
        while_compiling.over(20, device=device)(x, out, sizes, given)
        assert (out == wanted).all(), (part, x, out)
        assert sizes[0] == selected(x, part).size


@pytest.mark.parametrize("device", DEVICES[:3])
@pytest.mark.parametrize("step", [2**63 - 1, -(2**63), -(2**63) + 1, 2**62])
def test_steps_at_the_ends_of_their_type(step: int, device: str) -> None:
    x, out, sizes = np.arange(1, 6, dtype=np.float32), np.zeros(4, np.float32), np.zeros(1, int)
    at_run_time.over(4, device=device)(
        x, out, sizes, 2**63 - 1 if step < 0 else -(2**63), 0, step, "lo::step"
    )
    assert sizes[0] == 1
    assert out.tolist() == [0, 5 if step < 0 else 1, 0, 0]


@cb.cube
def nested(x: Array[f32], out: Array[f32], a: i32, b: i32, c: i32, d: i32) -> None:
    i = cb.ABSOLUTE_POS
    view = x[a:b:2][c:][::-1][:d]
    view[i - 2] += 100.0
    cb.atomic_add(view, i - 2, 1000.0)
    out[i] = view[i - 2]


@given(*[st.integers(-2, 12)] * 4, st.sampled_from(DEVICES))
@settings(max_examples=40)
def test_slices_of_slices_are_written_and_counted(
    a: int, b: int, c: int, d: int, device: str
) -> None:
    x = np.arange(10, dtype=np.float32)
    out = np.zeros(12, np.float32)
    wanted, places = x.copy(), np.arange(10)
    for part in (slice(a, b, 2), slice(c, None), slice(None, None, -1), slice(None, d)):
        places = selected(places, part)
    wanted[places] += 1100
    nested.over(12, device=device)(x, out, a, b, c, d)
    assert (x == wanted).all()
    assert (out[2:] == padded(wanted[places], 10)).all()
    assert (out[:2] == 0).all()


# ── several axes ─────────────────────────────────────────────────────────────────────────────────


@cb.cube
def total(part: Array[f32]) -> Any:
    found = 0.0
    for k in range(len(part)):
        found += part[k]
    return found


@cb.cube
def mean_of_rows(part: Tensor[f32]) -> Any:
    found = 0.0
    for row in range(part.shape[0]):
        found += total(part[row])
    return found / f32(part.size)


@cb.cube
def of_a_tensor(t: Tensor[f32], out: Tensor[f32], lo: i32) -> None:
    z, y = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
    out[0, z, y] = total(t[z, y])
    out[1, z, y] = total(t[z, :, 1])
    out[2, z, y] = mean_of_rows(t[z, lo:, ::2])
    out[3, z, y] = t[:, y][z, 2] + t[z][y][lo] + t[z, 1:][y, 0] + t[1:, y, 0][z]
    out[4, z, y] = f32(t[z, lo:].shape[0] * 100 + t[:, :, 1:].shape[2] * 10 + t[z][y].ndim)


@given(st.integers(0, 4), st.sampled_from(DEVICES), st.permutations([0, 1, 2]))
@settings(max_examples=30)
def test_rows_columns_and_blocks(lo: int, device: str, order: list[int]) -> None:
    shape = [3, 4, 5]
    sizes = [0, 0, 0]
    for place, axis in enumerate(order):
        sizes[place] = shape[axis]
    memory = np.arange(60, dtype=np.float32).reshape(sizes)
    t = memory.transpose(np.argsort(order))
    assert t.shape == (3, 4, 5)
    out = np.zeros((5, 3, 4), np.float32)
    of_a_tensor.over((3, 4), device=device)(t, out, lo)

    def at(*place: int) -> float:
        inside = all(0 <= one < extent for one, extent in zip(place, t.shape, strict=True))
        return float(t[place]) if inside else 0.0

    for z in range(3):
        for y in range(4):
            assert out[0, z, y] == t[z, y].sum()
            assert out[1, z, y] == t[z, :, 1].sum()
            block = t[z, lo:, ::2]
            if block.size:
                assert out[2, z, y] == np.float32(block.sum(dtype=np.float32)) / np.float32(
                    block.size
                )
            last = at(z, y + 1, 0) + at(z + 1, y, 0)
            assert out[3, z, y] == at(z, y, 2) + at(z, y, lo) + last
            assert out[4, z, y] == (4 - lo) * 100 + 40 + 1


# ── other shapes ─────────────────────────────────────────────────────────────────────────────────


@cb.cube
def reshaped(x: Array[f32], t: Tensor[f32], out: Array[f32], columns: i32) -> None:
    i = cb.ABSOLUTE_POS
    flat = t.reshape(-1)
    table = x.reshape(-1, columns)
    out[i] = flat[i] + 100.0 * table[i // columns, i % columns] + 10000.0 * t.reshape(2, 6)[1, i]
    out[i] += 1e6 * f32(table.shape[0]) + 1e7 * x[2:].reshape((2, 5))[1:, 0][i]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("columns", [1, 3, 5, 12])
def test_other_shapes(device: str, columns: int) -> None:
    x = np.arange(12, dtype=np.float32)
    t = np.arange(24, dtype=np.float32).reshape(3, 8)[:, ::2]
    out = np.zeros(12, np.float32)
    reshaped.over(12, device=device)(x, t, out, columns)
    table = padded(x[: 12 // columns * columns], 12)
    wanted = padded(t.reshape(-1), 12) + 100 * table + 10000 * padded(t.reshape(2, 6)[1], 12)
    wanted += np.float32(1e6) * (12 // columns)
    wanted += np.float32(1e7) * padded(x[2:].reshape(2, 5)[1:, 0], 12)
    assert (out == wanted).all()


@cb.cube
def tiles_of_shared_memory(x: Array[i32], out: Array[i32], turned: Comptime[bool]) -> None:
    memory = cb.shared(i32, 64)
    tile = memory.reshape(8, 8)
    low, high = tile[:4], tile[4:]
    i = cb.UNIT_POS
    row, column = i // 8, i % 8
    if turned:
        tile[column, row] = x[cb.ABSOLUTE_POS]
    else:
        tile[row, column] = x[cb.ABSOLUTE_POS]
    cb.sync_cube()
    own = cb.local_array(i32, (2, 3), fill=0)
    first, second = own[0], own[1][::-1]
    for k in range(3):
        first[k] = low[k, column]
        second[k] = high[k, column]
    total = 0
    for k in range(3):
        total = total * 10 + own[0, k] + own[1, k]
    out[cb.ABSOLUTE_POS] = total


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("turned", [False, True])
def test_views_of_shared_and_private_memory(device: str, *, turned: bool) -> None:
    x = np.random.default_rng(1).integers(0, 9, 128).astype(np.int32)
    out = np.zeros(128, np.int32)
    tiles_of_shared_memory.launch(x, out, turned, cube_count=2, cube_dim=64, device=device)
    for cube in range(2):
        tile = x[64 * cube : 64 * (cube + 1)].reshape(8, 8)
        tile = tile.T if turned else tile
        wanted = 0 * tile[0]
        for k in range(3):
            wanted = wanted * 10 + tile[k] + tile[4 + 2 - k]
        assert (out[64 * cube : 64 * (cube + 1)].reshape(8, 8) == wanted).all()


# ── layouts ──────────────────────────────────────────────────────────────────────────────────────


@cb.cube
def through_a_layout(
    x: Array[f32], out: Tensor[f32], layout: Comptime[cb.Layout], write: Comptime[bool]
) -> None:
    row, column = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
    view = x.view(layout)
    if write:
        view[row, column] = f32(layout(row, column))
    else:
        out[row, column] = view[row, column]


LAYOUTS = st.one_of(
    st.builds(lambda a, b, s, t: cb.Layout.strided((a, b), (s, t)), *[st.integers(1, 7)] * 4),
    st.builds(lambda a, b: cb.Layout.strided((a, b)), *[st.integers(1, 9)] * 2),
    st.builds(lambda a, b, s, t: cb.Layout.tiled((a, b), (s, t)), *[st.integers(1, 7)] * 4),
    st.builds(
        lambda a, bits, base: cb.Layout.swizzled((a, 8), bits, base=base),
        st.integers(1, 9), st.integers(1, 3), st.integers(0, 1),
    ),
    st.builds(
        lambda a, b: cb.Layout.virtual((a, b), lambda y, x: (x * 7 + y) % 40),
        *[st.integers(1, 6)] * 2,
    ),
)  # fmt: skip


@given(LAYOUTS, st.sampled_from(DEVICES))
@settings(max_examples=40)
def test_layouts_mean_the_same_in_kernels_and_on_the_host(layout: cb.Layout, device: str) -> None:
    memory = np.arange(300, dtype=np.float32) + 0.5
    before, after = memory.copy(), memory.copy()
    wanted = np.zeros((10, 10), np.float32)
    offsets = layout.offsets()
    for (y, x), offset in offsets.items():
        wanted[y, x] = before[offset]
        after[offset] = offset
    out = np.zeros((10, 10), np.float32)
    through_a_layout.over((10, 10), device=device)(memory, out, layout, False)
    assert (out == wanted).all()
    through_a_layout.over((10, 10), device=device)(memory, out, layout, True)
    assert (memory == after).all()
    if layout.storage:
        assert max(offsets.values()) < layout.storage


@given(
    st.integers(1, 6), st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3)
)
def test_tiles_and_swizzles_put_every_element_elsewhere(
    a: int, b: int, s: int, t: int, bits: int
) -> None:
    for layout in (
        cb.Layout.tiled((a, b), (s, t)),
        cb.Layout.swizzled((a, 1 << b), bits),
        cb.Layout.strided((a, b)),
    ):
        offsets = layout.offsets().values()
        assert len(set(offsets)) == len(offsets)
        assert 0 <= min(offsets) <= max(offsets) < layout.storage


def test_a_tile_is_dense_in_memory() -> None:
    layout = cb.Layout.tiled((4, 6), (2, 3))
    tile = {layout(2 + y, 3 + x) for y in range(2) for x in range(3)}
    assert tile == set(range(18, 24))


def test_a_swizzle_spreads_columns_over_banks() -> None:
    plain, swizzled = cb.Layout.strided((8, 8)), cb.Layout.swizzled((8, 8), 3)
    assert len({plain(y, 0) % 8 for y in range(8)}) == 1
    assert len({swizzled(y, 0) % 8 for y in range(8)}) == 8


@cb.cube
def through_functions(
    x: Array[f32], t: Tensor[f32], table: Array[i32], out: Array[f32], n: i32
) -> None:
    i = cb.ABSOLUTE_POS
    gathered = x.view(len(table), lambda k: table[k])
    turned = t.view((t.shape[1], t.shape[0]), lambda a, b: (b, a))
    window = x.view((n, 3), lambda row, k: row + k - 1)
    out[i] = gathered[i] + 100.0 * turned[1, i] + 1e4 * (window[i, 0] + window[i, 2])


@pytest.mark.parametrize("device", DEVICES)
def test_views_by_a_function(device: str) -> None:
    x, t = np.arange(1, 7, dtype=np.float32), np.arange(6, dtype=np.float32).reshape(3, 2)
    table = np.array([5, 0, 9, 2, -1], np.int32)
    out = np.zeros(7, np.float32)
    through_functions.over(7, device=device)(x, t, table, out, 5)
    gathered = padded(np.array([6, 1, 0, 3, 0], np.float32), 7)
    around = np.concatenate([[0], x, [0, 0]])
    window = np.array([around[i] + around[i + 2] if i < 5 else 0 for i in range(7)])
    assert (out == gathered + 100 * padded(t[:, 1], 7) + 1e4 * window).all()


def test_layouts_are_told_apart_by_what_their_functions_captured() -> None:
    def shifted(by: int) -> cb.Layout:
        return cb.Layout.virtual((2, 3), lambda row, column: row * 3 + column + by)

    x = np.arange(20, dtype=np.float32)
    for by in (0, 5, 9):
        out = np.zeros((2, 3), np.float32)
        through_a_layout.over((2, 3))(x, out, shifted(by), False)
        assert (out.reshape(-1) == x[by : by + 6]).all()


# ── bounds ───────────────────────────────────────────────────────────────────────────────────────


@cb.cube
def reads_behind(x: Array[f32], out: Array[f32], place: i32) -> None:
    part = x[2:5]
    out[cb.ABSOLUTE_POS] = part[place]


@cb.cube
def writes_behind(t: Tensor[f32], place: i32) -> None:
    t[cb.ABSOLUTE_POS, 1:3][place] = 1.0


@cb.cube
def reads_a_part(t: Tensor[f32], out: Array[f32], y: i32, x: i32) -> None:
    part = t[1:3, 1:4]
    out[cb.ABSOLUTE_POS] = part[y, x]


@pytest.mark.parametrize("device", DEVICES[:3])
@pytest.mark.parametrize("place", [(2, 0), (0, 3), (-1, 1)])
def test_the_axis_of_a_view_is_told(device: str, place: tuple[int, int]) -> None:
    t, out = np.zeros((8, 8), np.float32), np.zeros(2, np.float32)
    axis, length = (1, 3) if place[1] == 3 else (0, 2)
    told = f"subscript {place[axis]} of `part`.* outside of its length {length} along axis {axis}"
    with pytest.raises(OutOfBoundsError, match=told):
        reads_a_part.over(2, device=device, check="validate")(t, out, *place)


@pytest.mark.parametrize("device", DEVICES[:3])
def test_the_bounds_of_a_view_are_validated(device: str) -> None:
    x, out = np.arange(10, dtype=np.float32), np.zeros(2, np.float32)
    validated: dict[str, Any] = {"device": device, "check": "validate"}
    reads_behind.over(2, **validated)(x, out, 2)
    assert (out == 4).all()
    with pytest.raises(OutOfBoundsError, match=r"subscript 3 of `part`.* outside of its length 3"):
        reads_behind.over(2, **validated)(x, out, 3)
    with pytest.raises(OutOfBoundsError, match=r"subscript -1 of `part`"):
        reads_behind.over(2, **validated)(x, out, -1)
    t = np.zeros((2, 4), np.float32)
    writes_behind.over(2, **validated)(t, 1)
    assert (t[:, 2] == 1).all()
    with pytest.raises(OutOfBoundsError, match=r"subscript 2 of"):
        writes_behind.over(2, **validated)(t, 2)
    with pytest.raises(OutOfBoundsError, match="`t"):
        writes_behind.over(3, **validated)(t, 1)


@cb.cube
def private_views(out: Array[i32], at: i32) -> None:
    own = cb.local_array(i32, 6, fill=7)
    part = own[1:4]
    part[at] = 1
    part[2] = 2
    total = 0
    for k in range(6):
        total = total * 10 + own[k]
    out[cb.ABSOLUTE_POS] = total


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("at", [-1, 0, 1, 3, 100])
def test_writes_beside_a_private_view_are_dropped(device: str, at: int) -> None:
    out = np.zeros(5, np.int32)
    private_views.over(5, device=device)(out, at)
    wanted = [7] * 6
    if 0 <= at < 3:
        wanted[1 + at] = 1
    wanted[3] = 2
    assert out.tolist() == [int("".join(map(str, wanted)))] * 5


def test_unchecked_views_test_nothing() -> None:
    x, out = np.arange(10, dtype=np.float32), np.zeros(2, np.float32)
    stages = reads_behind.over(2, check="unchecked").inspect(x, out, 3)
    assert "check_bounds" not in stages.ir
    assert stages.ir.count("if ") == 1  # the extent of the launch
    reads_behind.over(2, check="unchecked")(x, out, 3)
    assert (out == 5).all()
