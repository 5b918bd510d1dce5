"""Running sum

One plane for each block of the array: `cb.plane_inclusive_sum` scans as many elements as a plane
has units, and what they add up to is carried on to the next. A second kernel adds to each block
what stands before it; sums of blocks are scanned in the same way.

Watch for: all units of a plane have to reach a plane operation, so the loop counts what is the same
for all, and runs to the end of the block; reads beyond the array give 0.
"""

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Array, Comptime, i32


@cb.cube
def scan_blocks(
    x: Array[i32], out: Array[i32], totals: Array[i32], BLOCK: Comptime[int] = 4096
) -> None:
    """The running sum within each block, and the sum of each block."""
    lane, first = cb.UNIT_POS_PLANE, cb.CUBE_POS * BLOCK
    carried = 0
    for start in range(first, first + BLOCK, cb.PLANE_DIM):
        upto = carried + cb.plane_inclusive_sum(x[start + lane])
        out[start + lane] = upto
        carried = cb.plane_broadcast(upto, cb.PLANE_DIM - 1)
    if lane == 0:
        totals[cb.CUBE_POS] = carried


@cb.cube
def add_totals(totals: Array[i32], out: Array[i32], BLOCK: Comptime[int] = 4096) -> None:
    """Add to each block what all blocks before it sum up to."""
    i = cb.ABSOLUTE_POS
    out[i] += totals[i // BLOCK - 1]


KERNELS = (scan_blocks, add_totals)


def run(x: NDArray[np.int32]) -> NDArray[np.int32]:
    out = np.empty_like(x)
    totals = np.empty(-(-x.size // 4096), np.int32)
    scan_blocks[totals.size, cb.PLANE](x, out, totals)
    if totals.size > 1:
        add_totals.over(x.size)(run(totals), out)
    return out


def expected(x: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.cumsum(x, dtype=np.int32)


SIZE, SMALL, TOLERANCE = 1_000_000, 9000, 0.0


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return (rng.integers(-1000, 1000, size, dtype=np.int32),)
