"""Histogram

Each cube counts its share in shared memory, where atomics meet fewer others, and adds its counts to
the result at the end.

Watch for: shared memory holds anything at first. The barriers keep its clearing, the counting and
the reading apart.
"""

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Array, u8, u32


@cb.cube
def count_bytes(x: Array[u8], counts: Array[u32]) -> None:
    """How often each value occurs; cubes of 256 units, one for each value."""
    unit, size = cb.UNIT_POS, cb.cdiv(len(x), cb.CUBE_COUNT)
    first = cb.CUBE_POS * size
    share = cb.shared(u32, 256)
    share[unit] = 0
    cb.sync_cube()
    for i in range(first + unit, min(first + size, len(x)), 256):
        cb.atomic_add(share, x[i], 1)
    cb.sync_cube()
    cb.atomic_add(counts, unit, share[unit])


KERNELS = (count_bytes,)


def run(x: NDArray[np.uint8]) -> NDArray[np.uint32]:
    counts = np.zeros(256, np.uint32)
    count_bytes[16, 256](x, counts)
    return counts


def expected(x: NDArray[np.uint8]) -> NDArray[np.uint32]:
    return np.bincount(x, minlength=256).astype(np.uint32)


SIZE, SMALL, TOLERANCE = 4_000_000, 1000, 0.0


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return ((rng.normal(size=size) * 40 + 128).clip(0, 255).astype(np.uint8),)
