"""Transpose

A transposed read is slow, or the write is. A cube reads a tile row by row into shared memory, and
writes it row by row of the result; only shared memory is read along columns.

Watch for: the tile is one column wider than needed. On GPUs a column would else lie in one memory
bank; on CPUs it costs nothing. Reads outside give 0 and writes outside are dropped, so tiles at the
edges need no care.
"""

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Comptime, Tensor, f32


@cb.cube
def transpose(x: Tensor[f32], out: Tensor[f32], TILE: Comptime[int] = 16) -> None:
    """Put x.T in `out`; launch with a cube of TILE × TILE."""
    tile = cb.shared(f32, (TILE, TILE + 1))
    tx, ty = cb.UNIT_POS_X, cb.UNIT_POS_Y
    left, top = cb.CUBE_POS_X * TILE, cb.CUBE_POS_Y * TILE
    tile[ty, tx] = x[top + ty, left + tx]
    cb.sync_cube()
    out[left + ty, top + tx] = tile[tx, ty]


KERNELS = (transpose,)


def run(x: NDArray[np.float32]) -> NDArray[np.float32]:
    rows, columns = x.shape
    out = np.empty((columns, rows), np.float32)
    transpose[(-(-columns // 16), -(-rows // 16)), (16, 16)](x, out)
    return out


def expected(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.ascontiguousarray(x.T)


SIZE, SMALL, TOLERANCE = 1000, 19, 0.0


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return (rng.normal(size=(size, size + 5)).astype(np.float32),)
