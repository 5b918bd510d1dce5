"""Sobel filter

How steep the brightness of a picture is. Pixels are bytes: with a float literal they are computed
as f32, and `u8(v)` cuts off and saturates on the way back.

Watch for: a read outside gives 0, so the border of the picture looks like an edge; clamp the
subscripts, as in the stencil above, where it should not.
"""

import numpy as np
import scipy.ndimage
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Tensor, u8


@cb.cube
def steepness(image: Tensor[u8], out: Tensor[u8]) -> None:
    """Length of the gradient, at most 255."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    left = image[y - 1, x - 1] + 2.0 * image[y, x - 1] + image[y + 1, x - 1]
    right = image[y - 1, x + 1] + 2.0 * image[y, x + 1] + image[y + 1, x + 1]
    above = image[y - 1, x - 1] + 2.0 * image[y - 1, x] + image[y - 1, x + 1]
    below = image[y + 1, x - 1] + 2.0 * image[y + 1, x] + image[y + 1, x + 1]
    across, down = right - left, below - above
    out[y, x] = u8(cb.sqrt(across * across + down * down))


KERNELS = (steepness,)


def run(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    out = np.empty_like(image)
    steepness.over(image.shape)(image, out)
    return out


def expected(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    wide = image.astype(np.float32)
    across, down = (scipy.ndimage.sobel(wide, axis, mode="constant") for axis in (1, 0))
    length: NDArray[np.uint8] = np.hypot(across, down).clip(0, 255).astype(np.uint8)
    return length


# hypot may round to the other side of a whole number
SIZE, SMALL, TOLERANCE = 800, 20, 1.0


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return (rng.integers(0, 60, size=(size, size + 3), dtype=np.uint8),)
