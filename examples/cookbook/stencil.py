"""Stencil with clamped borders

A step of heat flow: each point moves towards the mean of its neighbours, and beyond the border the
last value goes on.

Watch for: input and output are two arrays that trade places. A kernel that reads neighbours from
the array it writes has a race.
"""

import numpy as np
import scipy.ndimage
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Tensor, f32


@cb.cube
def heat_step(heat: Tensor[f32], rate: f32, out: Tensor[f32]) -> None:
    """One step of time."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    bottom, right = heat.shape[0] - 1, heat.shape[1] - 1
    above, below = heat[max(y - 1, 0), x], heat[min(y + 1, bottom), x]
    before, after = heat[y, max(x - 1, 0)], heat[y, min(x + 1, right)]
    out[y, x] = heat[y, x] + rate * (above + below + before + after - 4.0 * heat[y, x])


KERNELS = (heat_step,)


def run(heat: NDArray[np.float32], steps: int) -> NDArray[np.float32]:
    old, new = heat.copy(), np.empty_like(heat)
    for _ in range(steps):
        heat_step.over(heat.shape)(old, 0.2, new)
        old, new = new, old
    return old


def expected(heat: NDArray[np.float32], steps: int) -> NDArray[np.float32]:
    for _ in range(steps):
        heat = heat + np.float32(0.2) * scipy.ndimage.laplace(heat, mode="nearest")
    return heat


SIZE, SMALL, TOLERANCE = 400, 15, 1e-5


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return rng.random((size, size - 3)).astype(np.float32), 5
