"""GELU

A formula with a function in it. `cb.erf` is written in the kernel language, runs on whole vectors,
and gives the same bits on every device; [the list of operations](ops.md) says how far off it is.

Watch for: a literal such as `0.5` takes the type of the other operand, so nothing is computed in
double precision by accident.
"""

import numpy as np
import scipy.special
from numpy.typing import NDArray

from examples.kernels import gelu

KERNELS = (gelu,)


def run(x: NDArray[np.float32]) -> NDArray[np.float32]:
    out = np.empty_like(x)
    gelu.over(x.size)(x, out)
    return out


def expected(x: NDArray[np.float32]) -> NDArray[np.float32]:
    half = np.float32(0.5)
    result: NDArray[np.float32] = half * x * (1 + scipy.special.erf(x * np.sqrt(half)))
    return result


SIZE, SMALL, TOLERANCE = 1_000_000, 100, 1e-6


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return (3 * rng.normal(size=size).astype(np.float32),)
