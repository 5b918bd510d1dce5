"""Median of nine

Removes specks from a picture. A network of comparisons sorts three values at a time, without
branches; tuples go to helpers and come back.

Watch for: `min` and `max` of floats give NaN if one operand is NaN. `cb.clamp` keeps subscripts at
the border inside.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
import scipy.ndimage
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Tensor, f32


def sort3(a, b, c):
    """Three values in rising order."""
    low, high = min(a, b), max(a, b)
    return min(low, c), max(low, min(high, c)), max(high, c)


@cb.cube
def median_of_nine(image: Tensor[f32], out: Tensor[f32]) -> None:
    """The middle of each pixel and its neighbours."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    bottom, right = image.shape[0] - 1, image.shape[1] - 1
    left_x, right_x = max(x - 1, 0), min(x + 1, right)
    above, below = max(y - 1, 0), min(y + 1, bottom)
    low0, middle0, high0 = sort3(image[above, left_x], image[above, x], image[above, right_x])
    low1, middle1, high1 = sort3(image[y, left_x], image[y, x], image[y, right_x])
    low2, middle2, high2 = sort3(image[below, left_x], image[below, x], image[below, right_x])
    largest_low = max(low0, low1, low2)
    middle = sort3(middle0, middle1, middle2)[1]
    smallest_high = min(high0, high1, high2)
    out[y, x] = sort3(largest_low, middle, smallest_high)[1]


KERNELS = (sort3, median_of_nine)


def run(image: NDArray[np.float32]) -> NDArray[np.float32]:
    out = np.empty_like(image)
    median_of_nine.over(image.shape)(image, out)
    return out


def expected(image: NDArray[np.float32]) -> NDArray[np.float32]:
    result: NDArray[np.float32] = scipy.ndimage.median_filter(image, 3, mode="nearest")
    return result


SIZE, SMALL, TOLERANCE = 300, 15, 0.0


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return (rng.normal(size=(size, size + 3)).astype(np.float32),)
