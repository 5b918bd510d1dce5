"""Keep what passes a test

Each unit whose element is kept takes the next free place with an atomic, which returns what the
counter held before.

Watch for: units take places in any order, so the result is sorted here. Where order matters, scan
flags instead: the running sum gives each its place.
"""

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Array, f32, i32


@cb.cube
def keep_above(x: Array[f32], level: f32, kept: Array[f32], count: Array[i32]) -> None:
    """Copy elements above a level, without gaps."""
    i = cb.ABSOLUTE_POS
    if x[i] > level:
        kept[cb.atomic_add(count, 0, 1)] = x[i]


KERNELS = (keep_above,)


def run(x: NDArray[np.float32], level: float) -> NDArray[np.float32]:
    kept, count = np.empty_like(x), np.zeros(1, np.int32)
    keep_above.over(x.size)(x, level, kept, count)
    return np.sort(kept[: count[0]])


def expected(x: NDArray[np.float32], level: float) -> NDArray[np.float32]:
    return np.sort(x[x > level])


SIZE, SMALL, TOLERANCE = 1_000_000, 200, 0.0


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return rng.normal(size=size).astype(np.float32), 1.5
