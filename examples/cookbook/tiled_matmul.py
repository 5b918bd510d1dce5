"""Matrix product by tiles

Each cube makes one tile of the result. Tiles of both factors go through shared memory, so every
element is read from memory once for TILE uses.

Watch for: the second barrier keeps the next tile from overwriting this one while others still read
it. NumPy's product is a hand-tuned library; the next recipe goes after it.
"""

import numpy as np
from numpy.typing import NDArray

from examples.kernels import matmul

KERNELS = (matmul,)


def run(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    c = np.empty((a.shape[0], b.shape[1]), np.float32)
    count = -(-c.shape[1] // 16), -(-c.shape[0] // 16)
    matmul[count, (16, 16)](a, b, c)
    return c


def expected(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    return a @ b


SIZE, SMALL, TOLERANCE = 256, 18, 1e-4


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return rng.normal(size=(size, size - 3)).astype(np.float32), rng.normal(
        size=(size - 3, size + 1)
    ).astype(np.float32)
