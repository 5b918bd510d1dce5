"""Matrix product in registers

Each unit makes ROWS elements of a column at once: an element of `b` is read once for ROWS products,
which stay in registers. A private array with subscripts known while compiling is so many variables,
and `cb.unroll` makes them known.

Watch for: `contract=True` makes each step one `fma`. `min` keeps the rows at the edge inside; what
they compute twice they write twice, with the same bits. `examples/kernels/register_tiles.py` goes
on from here to the speed of the processor, with strips of `b` packed in shared memory.
"""

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Comptime, Tensor, f32


@cb.cube(contract=True)
def matmul_rows(a: Tensor[f32], b: Tensor[f32], c: Tensor[f32], ROWS: Comptime[int] = 8) -> None:
    """Product c = a @ b; over (rows // ROWS, columns) units."""
    column, first = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y * ROWS
    last = a.shape[0] - 1
    total = cb.local_array(f32, ROWS, fill=0.0)
    for k in range(a.shape[1]):
        element = b[k, column]
        for r in cb.unroll(range(ROWS)):
            total[r] += a[min(first + r, last), k] * element
    for r in cb.unroll(range(ROWS)):
        c[min(first + r, last), column] = total[r]


KERNELS = (matmul_rows,)


def run(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    c = np.empty((a.shape[0], b.shape[1]), np.float32)
    matmul_rows.over((-(-a.shape[0] // 8), c.shape[1]))(a, b, c)
    return c


def expected(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    return a @ b


SIZE, SMALL, TOLERANCE = 256, 18, 1e-4


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return rng.normal(size=(size, size - 3)).astype(np.float32), rng.normal(
        size=(size - 3, size + 1)
    ).astype(np.float32)
