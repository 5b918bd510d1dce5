"""Add arrays of different layouts

`Tensor` parameters take any strides: rows backwards, every second column, a transposed view, one
row for all (stride 0). What each dimension's stride is (0, 1, −1, other) is part of what the kernel
is compiled for, so the usual layouts cost nothing.

Watch for: `np.broadcast_to` makes read-only arrays. They are fine to read; a kernel that writes one
is refused.
"""

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Tensor, f32


@cb.cube
def add(a: Tensor[f32], b: Tensor[f32], out: Tensor[f32]) -> None:
    """Element by element, in two dimensions."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    out[y, x] = a[y, x] + b[y, x]


KERNELS = (add,)


def run(table: NDArray[np.float32], row: NDArray[np.float32]) -> NDArray[np.float32]:
    every_second = table[::-1, ::2]
    out = np.empty(every_second.shape, np.float32)
    add.over(out.shape)(every_second, np.broadcast_to(row, out.shape), out)
    return out


def expected(table: NDArray[np.float32], row: NDArray[np.float32]) -> NDArray[np.float32]:
    return table[::-1, ::2] + row


SIZE, SMALL, TOLERANCE = 1000, 12, 0.0


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    table = rng.normal(size=(size, 2 * size)).astype(np.float32)
    return table, rng.normal(size=size).astype(np.float32)
