"""One unit, one element: saxpy, GELU and the Mandelbrot set.

The loop of `mandelbrot` ends at a different trip in each unit; a plain `break` says so.
"""

import math
from typing import Any

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32, i32

Floats = np.ndarray[Any, np.dtype[np.float32]]


@cb.cube
def saxpy(a: f32, x: Array[f32], y: Array[f32]) -> None:
    """Add a*x to y."""
    i = cb.ABSOLUTE_POS
    if i < len(y):
        y[i] = a * x[i] + y[i]


def saxpy_numpy(a: float, x: Floats, y: Floats) -> Floats:
    """What `saxpy` leaves in y."""
    return np.float32(a) * x + y


@cb.cube
def gelu(x: Array[f32], out: Array[f32]) -> None:
    """The Gaussian error linear unit: x times the normal distribution at x."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        v = x[i]
        out[i] = 0.5 * v * (1.0 + cb.erf(v * 0.7071067811865476))


def gelu_numpy(x: Floats) -> Floats:
    """GELU computed in double precision with the C library's erf."""
    erf = np.vectorize(math.erf, otypes=[np.float64])
    wide = x.astype(np.float64)
    result: Floats = (0.5 * wide * (1.0 + erf(wide * math.sqrt(0.5)))).astype(np.float32)
    return result


@cb.cube
def mandelbrot(left: f32, top: f32, step: f32, limit: i32, out: Tensor[i32]) -> None:
    """Trips until the orbit of a pixel's point leaves the circle of radius 2, up to `limit`."""
    col, row = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    if row >= out.shape[0] or col >= out.shape[1]:
        return
    c_re = left + step * f32(col)
    c_im = top + step * f32(row)
    re, im = 0.0, 0.0
    count = 0
    for _ in range(limit):
        if re * re + im * im > 4.0:
            break
        re, im = re * re - im * im + c_re, 2.0 * re * im + c_im
        count += 1
    out[row, col] = count


def mandelbrot_numpy(
    left: float, top: float, step: float, limit: int, shape: tuple[int, int]
) -> np.ndarray[Any, np.dtype[np.int32]]:
    """The same counts, one trip for the whole picture at a time."""
    rows, cols = (np.arange(extent, dtype=np.float32) for extent in shape)
    c_re = np.broadcast_to(np.float32(left) + np.float32(step) * cols, shape)
    c_im = np.broadcast_to((np.float32(top) + np.float32(step) * rows)[:, None], shape)
    re, im = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    count = np.zeros(shape, np.int32)
    inside = np.ones(shape, np.bool_)
    with np.errstate(all="ignore"):
        for _ in range(limit):
            inside &= ~(re * re + im * im > 4)
            count += inside
            re, im = re * re - im * im + c_re, np.float32(2) * re * im + c_im
    return count
