"""The hand-written OpenCL C that cubepy's CPU code is measured against.

Each row has the kernel as an OpenCL programmer would write it, its arguments, and an answer worked
out by NumPy without it. `FP_CONTRACT OFF` holds it to the arithmetic that cubepy promises.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

SAXPY_LENGTH = 16 << 20
MANDELBROT_SIZE = 2048
MANDELBROT_ITERATIONS = 256
# The view is [-2, 1) × [-1.5, 1.5): pixel (x, y) stands for origin + step · (x, y).
MANDELBROT_ORIGIN = np.float32(-2.0), np.float32(-1.5)
MANDELBROT_STEP = np.float32(3.0 / MANDELBROT_SIZE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenclKernel:
    """A kernel, what to run it on, and how to tell that it was right."""

    name: str
    source: str
    global_size: tuple[int, ...]
    local_sizes: tuple[tuple[int, ...] | None, ...]
    arguments: Callable[[], list[Any]]
    is_right: Callable[[list[Array]], bool]
    moved_bytes: int | None = None


SAXPY_SOURCE = """
#pragma OPENCL FP_CONTRACT OFF
kernel void saxpy(float a, global const float *restrict x, global float *restrict y) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
"""

MANDELBROT_SOURCE = """
#pragma OPENCL FP_CONTRACT OFF
kernel void mandelbrot(global int *restrict counts, float origin_x, float origin_y, float step,
                       int width, int iterations) {
    int column = get_global_id(0), row = get_global_id(1);
    float cx = origin_x + step * column, cy = origin_y + step * row;
    float zx = 0.0f, zy = 0.0f;
    int n = 0;
    while (n < iterations) {
        float xx = zx * zx, yy = zy * zy;
        if (xx + yy > 4.0f) break;
        zy = 2.0f * zx * zy + cy;
        zx = xx - yy + cx;
        n++;
    }
    counts[row * width + column] = n;
}
"""


def saxpy_arguments() -> list[Any]:
    x = np.linspace(-1, 1, SAXPY_LENGTH, dtype=np.float32)
    return [np.float32(1e-3), x, np.ones(SAXPY_LENGTH, np.float32)]


def saxpy_is_right(after_one_call: list[Array]) -> bool:
    a, x, y = saxpy_arguments()
    return np.array_equal(after_one_call[1], a * x + y)


def mandelbrot_arguments() -> list[Any]:
    return [
        np.zeros(MANDELBROT_SIZE * MANDELBROT_SIZE, np.int32),
        *MANDELBROT_ORIGIN,
        MANDELBROT_STEP,
        np.int32(MANDELBROT_SIZE),
        np.int32(MANDELBROT_ITERATIONS),
    ]


def mandelbrot_counts(columns: Array, rows: Array) -> Array:
    """What the kernel counts at these pixels, by NumPy in f32, one iteration at a time."""
    cx = MANDELBROT_ORIGIN[0] + MANDELBROT_STEP * columns.astype(np.float32)
    cy = MANDELBROT_ORIGIN[1] + MANDELBROT_STEP * rows.astype(np.float32)
    cx, cy = np.broadcast_arrays(cx, cy)
    zx, zy = np.zeros_like(cx), np.zeros_like(cy)
    counts = np.zeros(cx.shape, np.int32)
    inside = np.ones(cx.shape, np.bool_)
    for _ in range(MANDELBROT_ITERATIONS):
        xx, yy = zx * zx, zy * zy
        inside &= ~(xx + yy > np.float32(4))
        counts += inside
        zy = np.where(inside, np.float32(2) * zx * zy + cy, zy)
        zx = np.where(inside, xx - yy + cx, zx)
    return counts


def mandelbrot_is_right(after_one_call: list[Array]) -> bool:
    """Every 13th pixel of every 13th row."""
    counts = after_one_call[0].reshape(MANDELBROT_SIZE, MANDELBROT_SIZE)[::13, ::13]
    sampled = np.arange(0, MANDELBROT_SIZE, 13)
    return np.array_equal(counts, mandelbrot_counts(sampled[None, :], sampled[:, None]))


OPENCL_KERNELS = (
    OpenclKernel(
        name="saxpy",
        source=SAXPY_SOURCE,
        global_size=(SAXPY_LENGTH,),
        local_sizes=(None, (1024,), (8192,)),
        arguments=saxpy_arguments,
        is_right=saxpy_is_right,
        moved_bytes=3 * 4 * SAXPY_LENGTH,
    ),
    OpenclKernel(
        name="mandelbrot",
        source=MANDELBROT_SOURCE,
        global_size=(MANDELBROT_SIZE, MANDELBROT_SIZE),
        local_sizes=(None, (64, 1), (256, 1), (1024, 1)),
        arguments=mandelbrot_arguments,
        is_right=mandelbrot_is_right,
    ),
)
