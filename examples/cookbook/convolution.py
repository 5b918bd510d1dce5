"""Convolution in two dimensions

One unit for each pixel of the result. What lies beyond the border counts as 0: the loops leave it
out with `continue`.

Watch for: each unit goes its own way at the border only; cubes that lie inside altogether are not
slowed down by the tests.
"""

import numpy as np
import scipy.ndimage
from numpy.typing import NDArray

from examples.kernels import conv2d

KERNELS = (conv2d,)


def run(image: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    out = np.empty_like(image)
    conv2d.over(out.shape)(image, weights, out, PAD=weights.shape[0] // 2)
    return out


def expected(image: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    result: NDArray[np.float32] = scipy.ndimage.correlate(image, weights, mode="constant")
    return result


SIZE, SMALL, TOLERANCE = 600, 17, 1e-5


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    image = rng.normal(size=(size, size + 7)).astype(np.float32)
    return image, rng.normal(size=(5, 5)).astype(np.float32)
