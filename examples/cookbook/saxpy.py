"""Scale and add

One unit for each element, the loop body alone. NumPy makes a pass over memory for the product and
another for the sum, the kernel one. `over(n)` runs exactly n units; the guard makes it right in
whole cubes too, and costs nothing.

Watch for: `a * x[i] + y[i]` rounds twice, as NumPy's does. `@cb.cube(contract=True)` makes it one
`fma`.
"""

import numpy as np
from numpy.typing import NDArray

from examples.kernels import saxpy

KERNELS = (saxpy,)


def run(a: float, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
    out = y.copy()
    saxpy.over(out.size)(a, x, out)
    return out


def expected(a: float, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.float32(a) * x + y


SIZE, SMALL, TOLERANCE = 1_000_000, 100, 0.0


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return 2.5, rng.normal(size=size).astype(np.float32), rng.normal(size=size).astype(np.float32)
