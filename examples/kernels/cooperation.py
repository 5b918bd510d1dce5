"""Units that work together: shared memory and barriers, plane operations, atomics.

Kernels with barriers, shared memory or plane operations are launched in whole cubes, so they guard
their own loads and stores; a read outside an array gives 0.
"""

from typing import Any

import numpy as np

import cubepy as cb
from cubepy import Array, Comptime, Tensor, f32, u8, u32

Floats = np.ndarray[Any, np.dtype[np.float32]]


@cb.cube
def matmul(a: Tensor[f32], b: Tensor[f32], c: Tensor[f32], TILE: Comptime[int] = 16) -> None:
    """Product c = a @ b by square tiles; launch with a cube of TILE × TILE."""
    tile_a = cb.shared(f32, (TILE, TILE))
    tile_b = cb.shared(f32, (TILE, TILE))
    tx, ty = cb.UNIT_POS_X, cb.UNIT_POS_Y
    col, row = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    total = 0.0
    for t in range(cb.cdiv(a.shape[1], TILE)):
        tile_a[ty, tx] = a[row, t * TILE + tx]
        tile_b[ty, tx] = b[t * TILE + ty, col]
        cb.sync_cube()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cb.sync_cube()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


def matmul_numpy(a: Floats, b: Floats, tile: int = 16) -> Floats:
    """The same products added in the same order, so the result is the same to the bit."""
    depth = -(-a.shape[1] // tile) * tile
    wide = np.zeros((a.shape[0], depth), np.float32)
    wide[:, : a.shape[1]] = a
    tall = np.zeros((depth, b.shape[1]), np.float32)
    tall[: b.shape[0]] = b
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(depth):
        total += wide[:, k, None] * tall[k]
    return total


@cb.cube
def block_sum(x: Array[f32], out: Array[f32]) -> None:
    """One sum for each cube, by halving; the size of a cube is a power of two."""
    part = cb.shared(f32, cb.CUBE_DIM)
    unit, i = cb.UNIT_POS, cb.ABSOLUTE_POS
    part[unit] = x[i] if i < len(x) else 0.0
    cb.sync_cube()
    half = cb.CUBE_DIM // 2
    while half > 0:
        if unit < half:
            part[unit] += part[unit + half]
        cb.sync_cube()
        half //= 2
    if unit == 0:
        out[cb.CUBE_POS] = part[0]


def block_sum_numpy(x: Floats, cube_dim: int) -> Floats:
    """The same sums in the same order."""
    padded = np.zeros(-(-x.size // cube_dim) * cube_dim, np.float32)
    padded[: x.size] = x
    part = padded.reshape(-1, cube_dim)
    while part.shape[1] > 1:
        half = part.shape[1] // 2
        part = part[:, :half] + part[:, half:]
    return part[:, 0]


@cb.cube
def softmax_rows(x: Tensor[f32], out: Tensor[f32]) -> None:
    """Softmax along each row; one plane works on one row."""
    row, lane = cb.CUBE_POS, cb.UNIT_POS_PLANE
    columns = x.shape[1]
    largest = -np.inf
    for j in range(lane, columns, cb.PLANE_DIM):
        largest = max(largest, x[row, j])
    largest = cb.plane_max(largest)
    total = 0.0
    for j in range(lane, columns, cb.PLANE_DIM):
        total += cb.exp(x[row, j] - largest)
    total = cb.plane_sum(total)
    for j in range(lane, columns, cb.PLANE_DIM):
        out[row, j] = cb.exp(x[row, j] - largest) / total


def softmax_rows_numpy(x: Floats) -> Floats:
    """Softmax along the last axis in double precision."""
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    result: Floats = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return result


@cb.cube
def histogram(x: Array[u8], counts: Array[u32]) -> None:
    """How often each value occurs."""
    i = cb.ABSOLUTE_POS
    if i < len(x):
        cb.atomic_add(counts, x[i], 1)


def histogram_numpy(x: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """The same counts."""
    return np.bincount(x, minlength=256).astype(np.uint32)
