"""Whole kernels as a NumPy or CUDA user writes them first, on the interpreter, against NumPy."""

import itertools
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, Tensor, f32, f64, i32, u8, u32

DEVICE = "reference"


@cb.cube
def mandelbrot(out: Tensor[i32], limit: i32) -> None:
    y = cb.ABSOLUTE_POS_Y
    x = cb.ABSOLUTE_POS_X
    cr = f32(x) * 0.1 - 2.0
    ci = f32(y) * 0.1 - 1.0
    zr = 0.0
    zi = 0.0
    n = 0
    while n < limit:
        zr2 = zr * zr
        zi2 = zi * zi
        if zr2 + zi2 > 4.0:
            break
        zi = 2.0 * zr * zi + ci
        zr = zr2 - zi2 + cr
        n += 1
    out[y, x] = n


def mandelbrot_numpy(height: int, width: int, limit: int) -> np.ndarray[Any, Any]:
    out = np.zeros((height, width), np.int32)
    one = np.float32
    for y, x in itertools.product(range(height), range(width)):
        cr, ci = one(x) * one(0.1) - one(2), one(y) * one(0.1) - one(1)
        zr = zi = one(0)
        n = 0
        while n < limit and not zr * zr + zi * zi > 4:
            zr, zi = zr * zr - zi * zi + cr, one(2) * zr * zi + ci
            n += 1
        out[y, x] = n
    return out


def test_mandelbrot_leaves_its_loop_by_break() -> None:
    out = np.zeros((16, 24), np.int32)
    mandelbrot.over(out.shape, device=DEVICE)(out, 30)
    assert np.array_equal(out, mandelbrot_numpy(16, 24, 30))


TILE = 4


@cb.cube
def matmul(a: Tensor[f32], b: Tensor[f32], c: Tensor[f32]) -> None:
    tile_a = cb.shared(f32, (TILE, TILE))
    tile_b = cb.shared(f32, (TILE, TILE))
    ty, tx = cb.UNIT_POS_Y, cb.UNIT_POS_X
    row = cb.CUBE_POS_Y * TILE + ty
    col = cb.CUBE_POS_X * TILE + tx
    rows, inner = a.shape
    cols = b.shape[1]
    total = 0.0
    for start in range(0, inner, TILE):
        tile_a[ty, tx] = a[row, start + tx] if row < rows and start + tx < inner else 0.0
        tile_b[ty][tx] = b[start + ty, col] if start + ty < inner and col < cols else 0.0
        cb.sync_cube()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cb.sync_cube()
    if row < rows and col < cols:
        c[row, col] = total


def test_tiled_matmul_with_shared_memory() -> None:
    a = np.arange(35, dtype=np.float32).reshape(5, 7)
    b = np.arange(42, dtype=np.float32).reshape(7, 6) - 20
    c = np.zeros((5, 6), np.float32)
    matmul.launch(a, b, c, cube_count=(2, 2), cube_dim=(TILE, TILE), device=DEVICE)
    assert np.array_equal(c, a @ b)


@cb.cube
def block_sum(x: Array[f32], out: Array[f32]) -> None:
    scratch = cb.shared(f32, cb.CUBE_DIM)
    unit = cb.UNIT_POS
    i = cb.ABSOLUTE_POS
    scratch[unit] = x[i]
    cb.sync_cube()
    stride = cb.CUBE_DIM // 2
    while stride > 0:
        if unit < stride:
            scratch[unit] += scratch[unit + stride]
        cb.sync_cube()
        stride //= 2
    if unit == 0:
        out[cb.CUBE_POS] = scratch[0]


def test_block_reduction_with_barriers_in_a_loop() -> None:
    x = np.arange(64, dtype=np.float32)
    out = np.zeros(4, np.float32)
    block_sum.launch(x, out, cube_count=4, cube_dim=16, device=DEVICE)
    assert np.array_equal(out, x.reshape(4, 16).sum(axis=1))


@cb.cube
def row_max(x: Tensor[f32], out: Array[f32]) -> None:
    row = cb.CUBE_POS
    lane = cb.UNIT_POS_PLANE
    best = -np.inf
    for column in range(lane, x.shape[1], cb.PLANE_DIM):
        best = max(best, x[row, column])
    best = cb.plane_max(best)
    if cb.plane_elect():
        out[row] = best


def test_rows_reduced_with_plane_operations() -> None:
    x = np.random.default_rng(1).normal(size=(5, 11)).astype(np.float32)
    out = np.zeros(5, np.float32)
    row_max.launch(x, out, cube_count=5, cube_dim=cb.PLANE, device=DEVICE)
    assert np.array_equal(out, x.max(axis=1))


@cb.cube
def histogram(pixels: Array[u8], bins: Array[u32]) -> None:
    cb.atomic_add(bins, pixels[cb.ABSOLUTE_POS], 1)


def test_histogram_with_atomics() -> None:
    pixels = np.random.default_rng(2).integers(0, 256, 500).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    histogram.over(pixels.size, device=DEVICE)(pixels, bins)
    assert np.array_equal(bins, np.bincount(pixels, minlength=256))


@cb.cube
def convolve(image: Tensor[f32], weights: Tensor[f32], out: Tensor[f32]) -> None:
    y, x = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
    height, width = image.shape
    total = 0.0
    for dy in range(3):
        for dx in range(3):
            sy = y + dy - 1
            sx = x + dx - 1
            if not (0 <= sy < height and 0 <= sx < width):
                continue
            total += image[sy, sx] * weights[dy, dx]
    out[y, x] = total


def test_convolution_with_padding_continues_and_chains_comparisons() -> None:
    image = np.arange(30, dtype=np.float32).reshape(5, 6)
    weights = np.arange(9, dtype=np.float32).reshape(3, 3)
    out = np.zeros_like(image)
    convolve.over(out.shape, device=DEVICE)(image, weights, out)
    padded = np.pad(image, 1)
    expected = sum(
        weights[dy, dx] * padded[dy : dy + 5, dx : dx + 6] for dy in range(3) for dx in range(3)
    )
    assert np.array_equal(out, expected)


@cb.cube
def early(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i >= len(out):
        return
    if x[i] < 0.0:
        out[i] = -1.0
        return
    for k in range(10):
        if f32(k) > x[i]:
            out[i] = f32(k)
            return
    out[i] = 100.0


def test_early_return_in_any_nest() -> None:
    x = np.array([-3, 0.5, 3.2, 20, 8.9], np.float32)
    out = np.zeros(5, np.float32)
    early.launch(x, out, cube_count=1, cube_dim=8, device=DEVICE)
    assert out.tolist() == [-1, 1, 4, 100, 9]


@cb.cube
def polar(x: f32, y: f32) -> Any:
    length = cb.sqrt(x * x + y * y)
    if length == 0.0:
        return 0.0, 0.0, 0.0
    return x / length, y / length, length


def plain_helper(value: Any, factor: Any = 2) -> Any:
    return value * factor


@cb.cube
def uses_helpers(x: Array[f32], y: Array[f32], out: Tensor[f32]) -> None:
    i = cb.ABSOLUTE_POS
    a, b, length = polar(x[i], y[i])
    square: Any = lambda v: v * v  # noqa: E731
    out[i, 0] = a
    out[i, 1] = b
    out[i, 2] = plain_helper(length)
    out[i, 3] = plain_helper(value=square(length), factor=0.5)


def test_helpers_return_tuples_and_early() -> None:
    x = np.array([3, 0, -1], np.float32)
    y = np.array([4, 0, 0], np.float32)
    out = np.zeros((3, 4), np.float32)
    uses_helpers.over(3, device=DEVICE)(x, y, out)
    length = np.array([5, 0, 1], np.float32)
    safe = np.where(length == 0, 1, length)
    expected = np.stack([x / safe, y / safe, 2 * length, 0.5 * length * length], axis=1)
    assert np.array_equal(out, expected)


@cb.cube
def unrolled(x: Array[f32], out: Array[f32], taps: Comptime[int], mirror: Comptime[bool]) -> None:
    i = cb.ABSOLUTE_POS
    values = cb.local_array(f32, taps)
    for k in cb.unroll(range(taps)):
        values[k] = x[i + k]
    total = 0.0
    for k, weight in enumerate((1.0, 2.0, 4.0)):
        if k >= taps:
            break
        if mirror:
            total += weight * values[taps - 1 - k]
        else:
            total += weight * values[k]
    out[i] = total


@pytest.mark.parametrize("taps", [1, 2, 3])
@pytest.mark.parametrize("mirror", [False, True])
def test_comptime_parameters_and_unrolled_loops(taps: int, mirror: Any) -> None:
    x = np.arange(10, dtype=np.float32)
    out = np.zeros(5, np.float32)
    unrolled.over(5, device=DEVICE)(x, out, taps, mirror)
    weights = [1, 2, 4][:taps]
    order = weights[::-1] if mirror else weights
    assert np.array_equal(out, [sum(w * x[i + k] for k, w in enumerate(order)) for i in range(5)])


@cb.cube
def double_precision(x: Array[f64], out: Array[f64]) -> None:
    acc = 0.1
    third = 0.1
    for k in range(3):
        acc += x[k]
    out[0] = acc
    out[1] = x[0] * third


def test_a_local_begun_by_a_literal_takes_the_type_of_its_uses() -> None:
    x = np.array([1e-9, 2e-9, 0.7])
    out = np.zeros(2)
    double_precision.over(1, device=DEVICE)(x, out)
    assert out[0] == ((0.1 + x[0]) + x[1]) + x[2]
    assert out[1] == x[0] * 0.1


@cb.cube
def collatz(start: Array[i32], steps: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    value = start[i]
    n = 0
    while value != 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        n += 1
        if n > 50:
            n = -1
            break
    else:
        n += 1000
    steps[i] = n


def test_while_else_runs_unless_broken() -> None:
    start = np.array([1, 2, 3, 27, 6], np.int32)
    steps = np.zeros(5, np.int32)
    collatz.over(5, device=DEVICE)(start, steps)
    assert steps.tolist() == [1000, 1001, 1007, -1, 1008]


@cb.cube
def first_divisor(x: Array[i32], out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    for d in range(2, 10):
        if x[i] % d == 0:
            out[i] = i32(d)
            break
    else:
        out[i] = 0
    for k in cb.unroll(range(3)):
        if x[i] == k:
            continue
        if x[i] + k == 12:
            break
        out[i] += 100
    else:
        out[i] += 5000


def test_for_else_and_runtime_exits_of_unrolled_loops() -> None:
    x = np.array([2, 9, 11, 49, 13, 10, 1], np.int32)
    out = np.zeros(7, np.int32)
    first_divisor.over(7, device=DEVICE)(x, out)
    expected = []
    for value in x.tolist():
        result = next((d for d in range(2, 10) if value % d == 0), 0)
        for k in range(3):
            if value == k:
                continue
            if value + k == 12:
                break
            result += 100
        else:
            result += 5000
        expected.append(result)
    assert out.tolist() == expected


@cb.cube
def swaps(x: Array[i32], out: Tensor[i32]) -> None:
    i = cb.ABSOLUTE_POS
    a = b = x[i]
    b += 1
    a, b = b, a
    first, *rest = (a, b, a + b)
    for _ in range(3):
        a, b = b, a + b
    out[i, 0] = a
    out[i, 1] = b
    out[i, 2] = first
    out[i, 3] = rest[0] + rest[1]
    if (doubled := x[i] * 2) > 6 and (tripled := x[i] * 3) > 12:
        out[i, 0] = doubled + tripled


def test_swaps_chains_stars_and_walrus() -> None:
    x = np.array([1, 4, 7], np.int32)
    out = np.zeros((3, 4), np.int32)
    swaps.over(3, device=DEVICE)(x, out)
    for row, value in zip(out.tolist(), x.tolist(), strict=True):
        a, b = value + 1, value
        first, *rest = (a, b, a + b)
        for _ in range(3):
            a, b = b, a + b
        expected = [a, b, first, sum(rest)]
        if value * 2 > 6 and value * 3 > 12:
            expected[0] = value * 5
        assert row == expected
