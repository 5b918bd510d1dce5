"""The hand-written OpenCL C that cubepy's CPU code is measured against.

Each row has the kernel as an OpenCL programmer would write it, its arguments, and an answer worked
out by NumPy without it. `FP_CONTRACT OFF` holds it to the arithmetic that cubepy promises.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

Array = np.ndarray[Any, np.dtype[Any]]

SAXPY_LENGTH = 16 << 20
GELU_LENGTH = 16 << 20
SUM_LENGTH = 16 << 20
SUM_GROUP = 256
MATMUL_SIZE = 1024
MATMUL_TILE = 16
HISTOGRAM_LENGTH = 16 << 20
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


GELU_SOURCE = """
#pragma OPENCL FP_CONTRACT OFF
kernel void gelu(global const float *restrict x, global float *restrict out) {
    size_t i = get_global_id(0);
    float v = x[i];
    out[i] = 0.5f * v * (1.0f + erf(v * 0.7071067811865476f));
}
"""


def gelu_arguments() -> list[Any]:
    x = np.random.default_rng(1).standard_normal(GELU_LENGTH, np.float32)
    return [x, np.zeros_like(x)]


def gelu_is_right(after_one_call: list[Array]) -> bool:
    x, out = (array[::97].astype(np.float64) for array in after_one_call)
    exact = 0.5 * x * (1.0 + special.erf(x * np.sqrt(0.5)))
    return np.allclose(out, exact, rtol=1e-5, atol=1e-6)


BLOCK_SUM_SOURCE = """
#pragma OPENCL FP_CONTRACT OFF
#define GROUP 256
kernel void block_sum(global const float *restrict x, global float *restrict sums) {
    local float partial[GROUP];
    int unit = get_local_id(0);
    partial[unit] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = GROUP / 2; step > 0; step /= 2) {
        if (unit < step) partial[unit] += partial[unit + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (unit == 0) sums[get_group_id(0)] = partial[0];
}
"""


def block_sum_arguments() -> list[Any]:
    x = np.random.default_rng(2).random(SUM_LENGTH, np.float32)
    return [x, np.zeros(SUM_LENGTH // SUM_GROUP, np.float32)]


def block_sum_is_right(after_one_call: list[Array]) -> bool:
    """The tree of the kernel, level by level: the same additions, so the same bits."""
    x, sums = after_one_call
    level = x.reshape(-1, SUM_GROUP)
    while level.shape[1] > 1:
        half = level.shape[1] // 2
        level = level[:, :half] + level[:, half:]
    return np.array_equal(sums, level[:, 0])


TILED_MATMUL_SOURCE = """
#pragma OPENCL FP_CONTRACT OFF
#define TILE 16
kernel void tiled_matmul(global const float *restrict a, global const float *restrict b,
                         global float *restrict c, int n) {
    local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int start = 0; start < n; start += TILE) {
        tile_a[y][x] = a[row * n + start + x];
        tile_b[y][x] = b[(start + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++) sum += tile_a[y][k] * tile_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
"""


def tiled_matmul_arguments() -> list[Any]:
    random = np.random.default_rng(3)
    a, b = (random.random((MATMUL_SIZE, MATMUL_SIZE), np.float32) for _ in range(2))
    return [a, b, np.zeros_like(a), np.int32(MATMUL_SIZE)]


def tiled_matmul_is_right(after_one_call: list[Array]) -> bool:
    a, b, c = after_one_call
    return np.allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-4)


HISTOGRAM_SOURCE = """
kernel void histogram(global const uchar *restrict values, global uint *restrict counts) {
    atomic_inc(&counts[values[get_global_id(0)]]);
}
"""


def histogram_arguments() -> list[Any]:
    values = np.random.default_rng(4).integers(0, 256, HISTOGRAM_LENGTH, np.uint8)
    return [values, np.zeros(256, np.uint32)]


def histogram_is_right(after_one_call: list[Array]) -> bool:
    values, counts = after_one_call
    return np.array_equal(counts, np.bincount(values, minlength=256))


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
    OpenclKernel(
        name="gelu",
        source=GELU_SOURCE,
        global_size=(GELU_LENGTH,),
        local_sizes=(None, (1024,), (8192,)),
        arguments=gelu_arguments,
        is_right=gelu_is_right,
        moved_bytes=2 * 4 * GELU_LENGTH,
    ),
    OpenclKernel(
        name="block_sum",
        source=BLOCK_SUM_SOURCE,
        global_size=(SUM_LENGTH,),
        local_sizes=((SUM_GROUP,),),
        arguments=block_sum_arguments,
        is_right=block_sum_is_right,
        moved_bytes=4 * (SUM_LENGTH + SUM_LENGTH // SUM_GROUP),
    ),
    OpenclKernel(
        name="tiled_matmul",
        source=TILED_MATMUL_SOURCE,
        global_size=(MATMUL_SIZE, MATMUL_SIZE),
        local_sizes=((MATMUL_TILE, MATMUL_TILE),),
        arguments=tiled_matmul_arguments,
        is_right=tiled_matmul_is_right,
    ),
    OpenclKernel(
        name="histogram",
        source=HISTOGRAM_SOURCE,
        global_size=(HISTOGRAM_LENGTH,),
        local_sizes=(None, (1024,), (8192,)),
        arguments=histogram_arguments,
        is_right=histogram_is_right,
        moved_bytes=HISTOGRAM_LENGTH,
    ),
)
