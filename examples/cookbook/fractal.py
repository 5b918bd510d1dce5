"""Mandelbrot set

A loop that ends at another trip in each unit. Write the plain loop with its `break`; a gang goes
round until its last unit has left.

Watch for: `range(limit)` with a run-time `limit` is fine. NumPy has to compute all pixels as often
as the slowest.
"""

import numpy as np
from numpy.typing import NDArray

from examples.kernels import mandelbrot, mandelbrot_numpy

KERNELS = (mandelbrot,)


def run(rows: int, columns: int) -> NDArray[np.int32]:
    out = np.empty((rows, columns), np.int32)
    mandelbrot.over(out.shape)(-2.0, -1.25, 2.5 / rows, 100, out)
    return out


def expected(rows: int, columns: int) -> NDArray[np.int32]:
    return mandelbrot_numpy(-2.0, -1.25, 2.5 / rows, 100, (rows, columns))


SIZE, SMALL, TOLERANCE = 250, 16, 0.0


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return size, size * 3 // 2
