"""A matrix product at the speed of the processor: a register tile in each unit.

A cube is two planes wide, two registers a row. A unit adds up ROWS elements of a column at a time
in a private array and reads `b` from shared memory, where the cube has packed the strips it needs.
"""

from typing import Any

import numpy as np

import cubepy as cb
from cubepy import Comptime, Tensor, f32

Floats = np.ndarray[Any, np.dtype[np.float32]]


@cb.cube(contract=True)
def register_tiles(
    a: Tensor[f32], b: Tensor[f32], c: Tensor[f32],
    ROWS: Comptime[int] = 4, DEPTH: Comptime[int] = 64, STRIPS: Comptime[int] = 2,
) -> None:  # fmt: skip
    """Product c = a @ b; a cube of (width, 1, 1) makes STRIPS × width columns."""
    packed = cb.shared(f32, (STRIPS, DEPTH, cb.CUBE_DIM_X))
    total = cb.local_array(f32, ROWS)
    rows, inner = a.shape
    x, width = cb.UNIT_POS_X, cb.CUBE_DIM_X
    corner = cb.CUBE_POS_X * STRIPS * width
    strips = min(STRIPS, cb.cdiv(c.shape[1] - corner, width))
    for start in range(0, max(inner, 1), DEPTH):
        stop = min(start + DEPTH, inner)
        cb.sync_cube()
        for s in range(strips):
            for k in range(start, stop):
                packed[s, k % DEPTH, x] = b[k, corner + s * width + x]
        cb.sync_cube()
        for first in range(cb.CUBE_POS_Y * ROWS, rows, cb.CUBE_COUNT_Y * ROWS):
            for s in range(strips):
                column = corner + s * width + x
                for r in cb.unroll(range(ROWS)):
                    total[r] = c[min(first + r, rows - 1), column] if start > 0 else 0.0
                for k in range(start, stop):
                    element = packed[s, k % DEPTH, x]
                    for r in cb.unroll(range(ROWS)):
                        total[r] += a[min(first + r, rows - 1), k] * element
                for r in cb.unroll(range(ROWS)):
                    c[min(first + r, rows - 1), column] = total[r]


def product_plan(columns: int) -> tuple[int, int, dict[str, int]]:
    """Cubes, units of a cube, and tiles that fill the CPU's registers and second cache."""
    lanes = cb.device("cpu").target.features.plane_dim
    rows, strips = (12, 2) if lanes == 16 else (6, 4)
    cubes = -(-columns // (2 * lanes * strips))
    return cubes, 2 * lanes, {"ROWS": rows, "DEPTH": 1024, "STRIPS": strips}


def product(a: Floats, b: Floats, c: Floats) -> None:
    """Product c = a @ b on the CPU; either may be a transposed view."""
    cubes, width, tiles = product_plan(c.shape[1])
    register_tiles[cubes, width](a, b, c, **tiles)
