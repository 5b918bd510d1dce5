"""Units that work together: shared memory, barriers, planes, atomics; products of matrices."""

from typing import Any

import ml_dtypes
import numpy as np
from scipy import special

import cubepy as cb
from benchmarks.rows.row import Array, Call, Row, random
from cubepy import Array as Elements
from cubepy import Tensor, bf16, f32
from examples import kernels

__all__ = ["ROWS"]

LENGTH = 16 << 20
GROUP = 256
SIZE = 1024
TILE = 16
# Sizes of which the register tiles of every CPU have whole ones only.
_WHOLE_TILES = 64


# ── sums ────────────────────────────────────────────────────────────────────────────────────────

BLOCK_SUM = """
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


def sum_arguments() -> list[Any]:
    return [random(2).random(LENGTH, np.float32), np.zeros(LENGTH // GROUP, np.float32)]


def in_groups(kernel: Any, arguments: list[Any], check: str) -> Call:
    """Cubes of `GROUP` units."""
    launch = kernel.launcher(arguments[0].size // GROUP, GROUP, check=check)
    return lambda: launch(*arguments)


def block_sum_is_right(after_one_call: list[Array]) -> bool:
    """The tree of the kernel, level by level: the same additions, so the same bits."""
    x, sums = after_one_call
    level = x.reshape(-1, GROUP)
    while level.shape[1] > 1:
        half = level.shape[1] // 2
        level = level[:, :half] + level[:, half:]
    return np.array_equal(sums, level[:, 0])


@cb.cube
def plane_sums(x: Elements[f32], sums: Elements[f32]) -> None:
    """The sum of each cube: within planes first, then over the planes."""
    partial = cb.shared(f32, cb.cdiv(cb.CUBE_DIM, cb.PLANE_DIM))
    total = cb.plane_sum(x[cb.ABSOLUTE_POS])
    if cb.UNIT_POS_PLANE == 0:
        partial[cb.PLANE_POS] = total
    cb.sync_cube()
    if cb.UNIT_POS == 0:
        whole = 0.0
        for plane in range(cb.CUBE_DIM // cb.PLANE_DIM):
            whole += partial[plane]
        sums[cb.CUBE_POS] = whole


PLANE_SUMS = """
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void plane_sums(global const float *restrict x, global float *restrict sums) {
    local float partial[256];
    float total = sub_group_reduce_add(x[get_global_id(0)]);
    if (get_sub_group_local_id() == 0) partial[get_sub_group_id()] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        float whole = 0.0f;
        for (uint plane = 0; plane < get_num_sub_groups(); plane++) whole += partial[plane];
        sums[get_group_id(0)] = whole;
    }
}
"""


def sums_are_near(arrays: list[Array]) -> bool:
    x, sums = arrays
    return np.allclose(sums, x.astype(np.float64).reshape(-1, GROUP).sum(axis=1), rtol=1e-5)


# ── softmax ─────────────────────────────────────────────────────────────────────────────────────

SOFTMAX_ROWS, SOFTMAX_WIDTH = 8192, 1024

SOFTMAX = """
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
__attribute__((intel_reqd_sub_group_size(16)))
kernel void softmax(global const float *restrict x, int width, global float *restrict out) {
    size_t first = (size_t)get_group_id(0) * width;
    int lane = get_local_id(0), lanes = get_local_size(0);
    float highest = -INFINITY;
    for (int i = lane; i < width; i += lanes) highest = fmax(highest, x[first + i]);
    highest = sub_group_reduce_max(highest);
    float total = 0.0f;
    for (int i = lane; i < width; i += lanes) total += exp(x[first + i] - highest);
    total = sub_group_reduce_add(total);
    for (int i = lane; i < width; i += lanes) out[first + i] = exp(x[first + i] - highest) / total;
}
"""


def softmax_arguments() -> list[Any]:
    x = random(16).standard_normal((SOFTMAX_ROWS, SOFTMAX_WIDTH), np.float32)
    return [x, np.int32(SOFTMAX_WIDTH), np.zeros_like(x)]


def a_plane_each(kernel: Any, arguments: list[Any], check: str) -> Call:
    x, _, out = arguments
    launch = kernel.launcher(SOFTMAX_ROWS, cb.PLANE, check=check)
    return lambda: launch(x, out)


def softmax_is_right(arrays: list[Array]) -> bool:
    x, out = (array[::97] for array in arrays)
    return np.allclose(out, special.softmax(x.astype(np.float64), axis=1), rtol=1e-4)


# ── dot products of bf16 ────────────────────────────────────────────────────────────────────────

DOT_ROWS, DOT_WIDTH = 4096, 4096


@cb.cube
def bf16_dots(weights: Tensor[bf16], x: Elements[bf16], out: Elements[f32]) -> None:
    """A matrix of bf16 times a vector of bf16, added in f32; a column of the matrix a unit."""
    column = cb.ABSOLUTE_POS
    if column < len(out):
        total = 0.0
        for row in range(len(x)):
            total += f32(weights[row, column]) * f32(x[row])
        out[column] = total


BF16_DOTS = """
float wide(ushort bits) { return as_float((uint)bits << 16); }
kernel void bf16_dots(global const ushort *restrict weights, global const ushort *restrict x,
                      int rows, global float *restrict out) {
    int column = get_global_id(0), columns = get_global_size(0);
    float total = 0.0f;
    for (int row = 0; row < rows; row++)
        total += wide(weights[row * columns + column]) * wide(x[row]);
    out[column] = total;
}
"""


def bits_of_bf16(values: Array) -> Array:
    """The upper halves of f32 numbers that are whole bf16 numbers."""
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def bf16_arguments() -> list[Any]:
    numbers = random(17)
    weights = numbers.integers(-8, 9, (DOT_ROWS, DOT_WIDTH)).astype(np.float32)
    x = numbers.integers(-8, 9, DOT_ROWS).astype(np.float32)
    return [
        bits_of_bf16(weights), bits_of_bf16(x), np.int32(DOT_ROWS),
        np.zeros(DOT_WIDTH, np.float32),
    ]  # fmt: skip


def over_columns(kernel: Any, arguments: list[Any], check: str) -> Call:
    weights, x, _, out = arguments
    launch = kernel.over(out.size, check=check)
    return lambda: launch(weights.view(ml_dtypes.bfloat16), x.view(ml_dtypes.bfloat16), out)


def bf16_is_right(arrays: list[Array]) -> bool:
    weights, x = ((bits.astype(np.uint32) << 16).view(np.float32) for bits in arrays[:2])
    return np.array_equal(arrays[2], x.astype(np.float64) @ weights.astype(np.float64))


# ── matrices ────────────────────────────────────────────────────────────────────────────────────


@cb.cube
def naive_matmul(a: Tensor[f32], b: Tensor[f32], c: Tensor[f32]) -> None:
    """One element of the product a unit."""
    column, row = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    if row < c.shape[0] and column < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


NAIVE_MATMUL = """
kernel void naive_matmul(global const float *restrict a, global const float *restrict b, int n,
                         global float *restrict c) {
    int column = get_global_id(0), row = get_global_id(1);
    float total = 0.0f;
    for (int k = 0; k < n; k++) total += a[row * n + k] * b[k * n + column];
    c[row * n + column] = total;
}
"""

TILED_MATMUL = """
#define TILE 16
kernel void tiled_matmul(global const float *restrict a, global const float *restrict b, int n,
                         global float *restrict c) {
    local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    float total = 0.0f;
    for (int start = 0; start < n; start += TILE) {
        tile_a[y][x] = a[row * n + start + x];
        tile_b[y][x] = b[(start + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++) total += tile_a[y][k] * tile_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = total;
}
"""


def matmul_arguments() -> list[Any]:
    a, b = (random(3).random((SIZE, SIZE), np.float32) for _ in range(2))
    return [a, b, np.int32(SIZE), np.zeros_like(a)]


def over_product(kernel: Any, arguments: list[Any], check: str) -> Call:
    a, b, _, c = arguments
    launch = kernel.over(c.shape, check=check)
    return lambda: launch(a, b, c)


def in_tiles(kernel: Any, arguments: list[Any], check: str) -> Call:
    a, b, _, c = arguments
    launch = kernel.launcher((SIZE // TILE, SIZE // TILE), (TILE, TILE), check=check)
    return lambda: launch(a, b, c, TILE=TILE)


def matmul_is_right(arrays: list[Array]) -> bool:
    a, b, c = arrays
    return np.allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-4)


def product_row(name: str, size: int, *, turned: bool = False) -> Row:
    """The product by register tiles, beside libraries; `turned`: the second matrix is transposed.

    Both sides round once: so do the libraries.
    """

    def arguments() -> list[Any]:
        a, b = (random(3).random((size, size), np.float32) for _ in range(2))
        return [a, b.T if turned else b, np.int32(size), np.zeros_like(a)]

    def launch(kernel: Any, arguments: list[Any], check: str) -> Call:
        a, b, _, c = arguments
        count, width, tiles = kernels.product_plan(c.shape[1])
        launcher = kernel.launcher(count, width, check=check)
        return lambda: launcher(a, b, c, **tiles)

    return Row(
        name=name, arguments=arguments, kernel=kernels.register_tiles, launch=launch,
        is_right=matmul_is_right, source="", global_size=(size, size), flops=2 * size**3,
        trusts_checks=size % _WHOLE_TILES != 0,
    )  # fmt: skip


# ── histogram ───────────────────────────────────────────────────────────────────────────────────

HISTOGRAM = """
kernel void histogram(global const uchar *restrict values, global uint *restrict counts) {
    atomic_inc(&counts[values[get_global_id(0)]]);
}
"""


def histogram_arguments() -> list[Any]:
    return [random(4).integers(0, 256, LENGTH, np.uint8), np.zeros(256, np.uint32)]


def over_first(kernel: Any, arguments: list[Any], check: str) -> Call:
    launch = kernel.over(arguments[0].size, check=check)
    return lambda: launch(*arguments)


def histogram_is_right(arrays: list[Array]) -> bool:
    values, counts = arrays
    return np.array_equal(counts, np.bincount(values, minlength=256))


ROWS = (
    Row(
        name="block_sum", arguments=sum_arguments, kernel=kernels.block_sum, launch=in_groups,
        is_right=block_sum_is_right, source=BLOCK_SUM, global_size=(LENGTH,),
        local_sizes=((GROUP,),), moved_bytes=4 * LENGTH,
    ),
    Row(
        name="plane_sums", arguments=sum_arguments, kernel=plane_sums, launch=in_groups,
        is_right=sums_are_near, source=PLANE_SUMS, global_size=(LENGTH,),
        local_sizes=((GROUP,),), moved_bytes=4 * LENGTH,
    ),
    Row(
        name="softmax", arguments=softmax_arguments, kernel=kernels.softmax_rows,
        launch=a_plane_each, is_right=softmax_is_right, source=SOFTMAX,
        global_size=(SOFTMAX_ROWS * 16,), local_sizes=((16,),),
        moved_bytes=8 * SOFTMAX_ROWS * SOFTMAX_WIDTH,
    ),
    Row(
        name="bf16_dots", arguments=bf16_arguments, kernel=bf16_dots, launch=over_columns,
        is_right=bf16_is_right, source=BF16_DOTS, global_size=(DOT_WIDTH,),
        local_sizes=(None, (64,), (1024,)), moved_bytes=2 * DOT_ROWS * DOT_WIDTH,
    ),
    Row(
        name="naive_matmul", arguments=matmul_arguments, kernel=naive_matmul, launch=over_product,
        is_right=matmul_is_right, source=NAIVE_MATMUL, global_size=(SIZE, SIZE),
        local_sizes=(None, (64, 1), (256, 1)), flops=2 * SIZE**3,
    ),
    Row(
        name="tiled_matmul", arguments=matmul_arguments, kernel=kernels.matmul, launch=in_tiles,
        is_right=matmul_is_right, source=TILED_MATMUL, global_size=(SIZE, SIZE),
        local_sizes=((TILE, TILE),), flops=2 * SIZE**3,
    ),
    product_row("product_1000", 1000),
    product_row("product_1023", 1023),
    product_row("product_1024", 1024),
    product_row("product_2048", 2048),
    product_row("product_turned", 1024, turned=True),
    Row(
        name="histogram", arguments=histogram_arguments, kernel=kernels.histogram,
        launch=over_first, is_right=histogram_is_right, source=HISTOGRAM, global_size=(LENGTH,),
        local_sizes=(None, (1024,), (8192,)), moved_bytes=LENGTH,
    ),
)  # fmt: skip
