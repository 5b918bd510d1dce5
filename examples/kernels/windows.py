"""Neighbourhoods and helpers: convolution with padding, comptime taps, a tuple result.

`conv2d` leaves out what lies beyond the border with `continue`; `fir` is unrolled.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math
from typing import Any

import numpy as np

import cubepy as cb
from cubepy import Array, Comptime, Tensor, f32, i32

Floats = np.ndarray[Any, np.dtype[np.float32]]


@cb.cube
def conv2d(
    image: Tensor[f32], weights: Tensor[f32], out: Tensor[f32], PAD: Comptime[int] = 1
) -> None:
    """Cross-correlation with `PAD` rows and columns of zeros around the image."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    if y >= out.shape[0] or x >= out.shape[1]:
        return
    total = 0.0
    for dy in range(weights.shape[0]):
        row = y + dy - PAD
        if not 0 <= row < image.shape[0]:
            continue
        for dx in range(weights.shape[1]):
            col = x + dx - PAD
            if not 0 <= col < image.shape[1]:
                continue
            total += image[row, col] * weights[dy, dx]
    out[y, x] = total


def conv2d_numpy(image: Floats, weights: Floats, pad: int = 1) -> Floats:
    """The same products added in the same order; a product with padding is 0 and changes no sum."""
    height, width = (
        extent + 2 * pad - window + 1
        for extent, window in zip(image.shape, weights.shape, strict=True)
    )
    padded = np.pad(image, pad)
    total = np.zeros((height, width), np.float32)
    for (dy, dx), weight in np.ndenumerate(weights):
        total += padded[dy : dy + height, dx : dx + width] * weight
    return total


@cb.cube
def fir(x: Array[f32], taps: Array[f32], out: Array[f32], TAPS: Comptime[int]) -> None:
    """A finite impulse response filter; the loop over `TAPS` taps is unrolled."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        total = 0.0
        for k in cb.unroll(range(TAPS)):
            total += taps[k] * x[i + k]
        out[i] = total


def fir_numpy(x: Floats, taps: Floats, length: int) -> Floats:
    """The same products added in the same order; beyond its end the signal is 0."""
    padded = np.concatenate([x, np.zeros(length + len(taps), np.float32)])
    total = np.zeros(length, np.float32)
    for k, tap in enumerate(taps):
        total += tap * padded[k : k + length]
    return total


@cb.cube
def polar(x, y):
    """Square of the radius, and the quarter turn 1 … 4 a point lies in; 0 for the origin."""
    squared = x * x + y * y
    if squared == 0.0:
        return squared, 0
    if x > 0.0 and y >= 0.0:
        return squared, 1
    if y > 0.0:
        return squared, 2
    return squared, 3 if x < 0.0 else 4


@cb.cube
def to_polar(x: Array[f32], y: Array[f32], radius: Array[f32], quadrant: Array[i32]) -> None:
    """Radius and quadrant of points, through a helper that returns both."""
    i = cb.ABSOLUTE_POS
    if i < len(radius):
        squared, where = polar(x[i], y[i])
        radius[i] = cb.sqrt(squared)
        quadrant[i] = where


def to_polar_numpy(x: Floats, y: Floats) -> tuple[Floats, np.ndarray[Any, np.dtype[np.int32]]]:
    """The same radii and quadrants."""
    radius = np.sqrt(x * x + y * y)
    turns = np.arctan2(y.astype(np.float64), x.astype(np.float64)) / (math.pi / 2)
    return radius, np.where(radius == 0, 0, np.floor(turns) % 4 + 1).astype(np.int32)
