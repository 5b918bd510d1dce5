"""Softmax of rows

One plane for each row: its units take every PLANE_DIM-th element, and `cb.plane_max` and
`cb.plane_sum` bring together what each found, without memory or barriers. `cb.PLANE` as the size of
a cube is as many units as the device's plane has.

Watch for: the largest element is taken away first, or `exp` overflows.
"""

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from examples.kernels import softmax_rows

KERNELS = (softmax_rows,)


def run(x: NDArray[np.float32]) -> NDArray[np.float32]:
    out = np.empty_like(x)
    softmax_rows[x.shape[0], cb.PLANE](x, out)
    return out


def expected(x: NDArray[np.float32]) -> NDArray[np.float32]:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    result: NDArray[np.float32] = np.divide(powers, powers.sum(axis=1, keepdims=True))
    return result


SIZE, SMALL, TOLERANCE = 1000, 13, 1e-6


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return (4 * rng.normal(size=(size, size)).astype(np.float32),)
