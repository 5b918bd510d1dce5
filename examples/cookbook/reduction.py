"""Sum of an array

Each cube has a stretch of the array. Its units take turns along it, so that neighbours read
neighbours, and then halve their way to one number in shared memory. A second launch with one cube
adds up the cubes' numbers.

Watch for: the barrier stands outside of the `if`, where all units reach it. Floats are added in
another order than NumPy's, so the last bits differ; they are the same on every run.
"""

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Array, f32


@cb.cube
def partial_sums(x: Array[f32], out: Array[f32]) -> None:
    """One sum for each cube; the size of a cube is a power of two."""
    unit, size = cb.UNIT_POS, cb.cdiv(len(x), cb.CUBE_COUNT)
    first = cb.CUBE_POS * size
    share = 0.0
    for i in range(first + unit, min(first + size, len(x)), cb.CUBE_DIM):
        share += x[i]
    part = cb.shared(f32, cb.CUBE_DIM)
    part[unit] = share
    cb.sync_cube()
    half = cb.CUBE_DIM // 2
    while half > 0:
        if unit < half:
            part[unit] += part[unit + half]
        cb.sync_cube()
        half //= 2
    if unit == 0:
        out[cb.CUBE_POS] = part[0]


KERNELS = (partial_sums,)


def run(x: NDArray[np.float32]) -> NDArray[np.float32]:
    sums, total = np.empty(64, np.float32), np.empty(1, np.float32)
    partial_sums[64, 256](x, sums)
    partial_sums[1, 64](sums, total)
    return total


def expected(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.array([x.sum()])


SIZE, SMALL, TOLERANCE = 4_000_000, 500, 1e-5


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return (rng.random(size).astype(np.float32),)
