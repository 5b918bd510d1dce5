"""Pictures, grids and particles: two dimensions, neighbours, loops of their own length."""

from typing import Any

import numpy as np

import cubepy as cb
from benchmarks.rows.row import Array, Call, Row, over_last, random
from cubepy import Array as Elements
from cubepy import Tensor, f32, i32
from examples import kernels

__all__ = ["MANDELBROT_ITERATIONS", "MANDELBROT_ORIGIN", "MANDELBROT_STEP", "ROWS",
           "mandelbrot_counts"]  # fmt: skip

# ── Mandelbrot ──────────────────────────────────────────────────────────────────────────────────

MANDELBROT_SIZE = 2048
MANDELBROT_ITERATIONS = 256
# The view is [-2, 1) × [-1.5, 1.5): pixel (x, y) stands for origin + step · (x, y).
MANDELBROT_ORIGIN = np.float32(-2.0), np.float32(-1.5)
MANDELBROT_STEP = np.float32(3.0 / MANDELBROT_SIZE)

MANDELBROT = """
kernel void mandelbrot(float origin_x, float origin_y, float step, int iterations, int width,
                       global int *restrict counts) {
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


def mandelbrot_arguments() -> list[Any]:
    size = MANDELBROT_SIZE
    return [
        *MANDELBROT_ORIGIN, MANDELBROT_STEP, np.int32(MANDELBROT_ITERATIONS), np.int32(size),
        np.zeros((size, size), np.int32),
    ]  # fmt: skip


def over_pixels(kernel: Any, arguments: list[Any], check: str) -> Call:
    *view, _, out = arguments
    launch = kernel.over(out.shape, check=check)
    return lambda: launch(*view, out)


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
    sampled = np.arange(0, MANDELBROT_SIZE, 13)
    expected = mandelbrot_counts(sampled[None, :], sampled[:, None])
    return np.array_equal(after_one_call[0][::13, ::13], expected)


# ── n-body ──────────────────────────────────────────────────────────────────────────────────────

BODIES = 8192


@cb.cube
def n_body(x: Elements[f32], y: Elements[f32], z: Elements[f32], pull: Tensor[f32]) -> None:
    """The acceleration of each of many bodies of mass 1."""
    i = cb.ABSOLUTE_POS
    if i >= len(x):
        return
    px, py, pz = x[i], y[i], z[i]
    ax, ay, az = 0.0, 0.0, 0.0
    for j in range(len(x)):
        dx, dy, dz = x[j] - px, y[j] - py, z[j] - pz
        near = 1.0 / cb.sqrt(dx * dx + dy * dy + dz * dz + 1e-3)
        cubed = near * near * near
        ax += dx * cubed
        ay += dy * cubed
        az += dz * cubed
    pull[0, i], pull[1, i], pull[2, i] = ax, ay, az


N_BODY = """
kernel void n_body(global const float *restrict x, global const float *restrict y,
                   global const float *restrict z, int n, global float *restrict pull) {
    int i = get_global_id(0);
    float px = x[i], py = y[i], pz = z[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
        float near = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
        float cubed = near * near * near;
        ax += dx * cubed;
        ay += dy * cubed;
        az += dz * cubed;
    }
    pull[i] = ax;
    pull[n + i] = ay;
    pull[2 * n + i] = az;
}
"""


def n_body_arguments() -> list[Any]:
    places = random(11).standard_normal((3, BODIES), np.float32)
    return [*places.copy(), np.int32(BODIES), np.zeros((3, BODIES), np.float32)]


def over_bodies(kernel: Any, arguments: list[Any], check: str) -> Call:
    *places, _, pull = arguments
    launch = kernel.over(BODIES, check=check)
    return lambda: launch(*places, pull)


def n_body_is_right(arrays: list[Array]) -> bool:
    *places, pull = arrays
    every = np.stack(places).astype(np.float64)
    for body in range(0, BODIES, 1013):
        apart = every - every[:, body, None]
        exact = (apart / (np.sum(apart**2, axis=0) + 1e-3) ** 1.5).sum(axis=1)
        if not np.allclose(pull[:, body], exact, rtol=1e-3, atol=1e-1):
            return False
    return True


# ── stencils ────────────────────────────────────────────────────────────────────────────────────

GRID = 4096


@cb.cube
def stencil(field: Tensor[f32], out: Tensor[f32]) -> None:
    """A step of diffusion inside; the border stays as it is."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    if 0 < y < field.shape[0] - 1 and 0 < x < field.shape[1] - 1:
        around = field[y - 1, x] + field[y + 1, x] + field[y, x - 1] + field[y, x + 1]
        out[y, x] = 0.5 * field[y, x] + 0.125 * around


STENCIL = """
kernel void NAME(global const float *restrict field, int width, int height,
                 global float *restrict out) {
    int x = get_global_id(0), y = get_global_id(1);
    if (0 < y && y < height - 1 && 0 < x && x < width - 1) {
        int at = y * width + x;
        float around = field[at - width] + field[at + width] + field[at - 1] + field[at + 1];
        out[at] = 0.5f * field[at] + 0.125f * around;
    }
}
"""


def grid_arguments() -> list[Any]:
    field = random(12).random((GRID, GRID), np.float32)
    return [field, np.int32(GRID), np.int32(GRID), np.zeros_like(field)]


def stencil_is_right(arrays: list[Array]) -> bool:
    field, out = arrays
    inner = field[1:-1, 1:-1]
    around = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]
    return np.array_equal(out[1:-1, 1:-1], np.float32(0.5) * inner + np.float32(0.125) * around)


def over_grid(kernel: Any, arguments: list[Any], check: str) -> Call:
    """One unit for each element of the last argument; no extents."""
    field, _, _, out = arguments
    launch = kernel.over(out.shape, check=check)
    return lambda: launch(field, out)


def in_cubes(width: int, height: int) -> Row:
    """The stencil in cubes of this shape; the last ones of a row may reach over its end."""
    across, down = -(-GRID // width), -(-GRID // height)

    def launch(kernel: Any, arguments: list[Any], check: str) -> Call:
        field, _, _, out = arguments
        launcher = kernel.launcher((across, down), (width, height), check=check)
        return lambda: launcher(field, out)

    name = f"cubes_{width}x{height}"
    return Row(
        name=name, arguments=grid_arguments, kernel=stencil, launch=launch,
        is_right=stencil_is_right,
        source=STENCIL.replace("NAME", name), global_size=(across * width, down * height),
        local_sizes=((width, height),), moved_bytes=8 * GRID * GRID,
    )  # fmt: skip


@cb.cube
def clamped(field: Tensor[f32], out: Tensor[f32]) -> None:
    """The mean of nine neighbours; the border repeats itself."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    if y < out.shape[0] and x < out.shape[1]:
        total = 0.0
        for dy in cb.unroll(range(-1, 2)):
            for dx in cb.unroll(range(-1, 2)):
                row = cb.clamp(y + dy, 0, field.shape[0] - 1)
                total += field[row, cb.clamp(x + dx, 0, field.shape[1] - 1)]
        out[y, x] = total / 9.0


CLAMPED = """
kernel void clamped(global const float *restrict field, int width, int height,
                    global float *restrict out) {
    int x = get_global_id(0), y = get_global_id(1);
    if (y < height && x < width) {
        float total = 0.0f;
        for (int dy = -1; dy < 2; dy++)
            for (int dx = -1; dx < 2; dx++)
                total += field[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
        out[y * width + x] = total / 9.0f;
    }
}
"""


def clamped_is_right(arrays: list[Array]) -> bool:
    field, out = arrays
    padded = np.pad(field, 1, mode="edge")
    total = np.zeros_like(field)
    for dy in range(3):
        for dx in range(3):
            total += padded[dy : dy + GRID, dx : dx + GRID]
    return np.array_equal(out, total / np.float32(9))


# ── subscripts that are computed or read ────────────────────────────────────────────────────────


@cb.cube
def swapped(x: Elements[f32], width: i32, out: Elements[f32]) -> None:
    """Neighbouring rows of a picture change places, by division of a linear subscript."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        row, column = i // width, i % width
        out[i] = x[(row ^ 1) * width + column]


SWAPPED = """
kernel void swapped(global const float *restrict x, int width, global float *restrict out) {
    int i = get_global_id(0);
    int row = i / width, column = i % width;
    out[i] = x[(row ^ 1) * width + column];
}
"""


def swapped_arguments() -> list[Any]:
    x = random(13).random(GRID * GRID, np.float32)
    return [x, np.int32(GRID), np.zeros_like(x)]


def swapped_is_right(arrays: list[Array]) -> bool:
    x, out = (array.reshape(-1, 2, GRID) for array in arrays)
    return np.array_equal(out, x[:, ::-1])


@cb.cube
def gather(x: Elements[f32], places: Elements[i32], out: Elements[f32]) -> None:
    """Elements from anywhere."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[places[i]]


GATHER = """
kernel void gather(global const float *restrict x, global const int *restrict places,
                   global float *restrict out) {
    size_t i = get_global_id(0);
    out[i] = x[places[i]];
}
"""


def gather_arguments() -> list[Any]:
    x = random(14).random(GRID * GRID, np.float32)
    return [x, random(15).integers(0, x.size, x.size, np.int32), np.zeros_like(x)]


def gather_is_right(arrays: list[Array]) -> bool:
    x, places, out = arrays
    return np.array_equal(out[::97], x[places[::97]])


# ── rows of their own length ────────────────────────────────────────────────────────────────────

SPARSE = 1 << 18
LONGEST_ROW = 32


@cb.cube
def sparse(
    start: Elements[i32], column: Elements[i32], value: Elements[f32], x: Elements[f32],
    out: Elements[f32],
) -> None:  # fmt: skip
    """A sparse matrix in CSR form times a vector: a row a unit."""
    row = cb.ABSOLUTE_POS
    if row < len(out):
        total = 0.0
        for k in range(start[row], start[row + 1]):
            total += value[k] * x[column[k]]
        out[row] = total


SPARSE_PRODUCT = """
kernel void sparse(global const int *restrict start, global const int *restrict column,
                   global const float *restrict value, global const float *restrict x,
                   global float *restrict out) {
    size_t row = get_global_id(0);
    float total = 0.0f;
    for (int k = start[row]; k < start[row + 1]; k++) total += value[k] * x[column[k]];
    out[row] = total;
}
"""


def sparse_arguments() -> list[Any]:
    """Rows of 0 to 32 elements, 16 in the mean."""
    numbers = random(18)
    lengths = numbers.integers(0, LONGEST_ROW + 1, SPARSE)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    column = numbers.integers(0, SPARSE, start[-1], np.int32)
    value, x = numbers.random(start[-1], np.float32), numbers.random(SPARSE, np.float32)
    return [start, column, value, x, np.zeros(SPARSE, np.float32)]


def sparse_is_right(arrays: list[Array]) -> bool:
    start, column, value, x, out = arrays
    before = np.concatenate([[0.0], np.cumsum(value.astype(np.float64) * x[column])])
    return np.allclose(out, before[start[1:]] - before[start[:-1]], rtol=1e-4, atol=1e-5)


ROWS = (
    Row(
        name="mandelbrot", arguments=mandelbrot_arguments, kernel=kernels.mandelbrot,
        launch=over_pixels, is_right=mandelbrot_is_right, source=MANDELBROT,
        global_size=(MANDELBROT_SIZE, MANDELBROT_SIZE),
        local_sizes=(None, (64, 1), (256, 1), (1024, 1)),
    ),
    Row(
        name="n_body", arguments=n_body_arguments, kernel=n_body, launch=over_bodies,
        is_right=n_body_is_right, source=N_BODY, global_size=(BODIES,),
        local_sizes=(None, (256,), (1024,)),
    ),
    Row(
        name="stencil", arguments=grid_arguments, kernel=stencil, launch=over_grid,
        is_right=stencil_is_right, source=STENCIL.replace("NAME", "stencil"),
        global_size=(GRID, GRID), local_sizes=(None, (256, 1), (1024, 1)),
        moved_bytes=8 * GRID * GRID,
    ),
    in_cubes(8, 8),
    in_cubes(16, 4),
    in_cubes(5, 7),
    Row(
        name="clamped", arguments=grid_arguments, kernel=clamped, launch=over_grid,
        is_right=clamped_is_right, source=CLAMPED, global_size=(GRID, GRID),
        local_sizes=(None, (256, 1), (1024, 1)), moved_bytes=8 * GRID * GRID,
    ),
    Row(
        name="swapped", arguments=swapped_arguments, kernel=swapped, launch=over_last,
        is_right=swapped_is_right, source=SWAPPED, global_size=(GRID * GRID,),
        local_sizes=(None, (1024,), (8192,)), moved_bytes=8 * GRID * GRID,
    ),
    Row(
        name="gather", arguments=gather_arguments, kernel=gather, launch=over_last,
        is_right=gather_is_right, source=GATHER, global_size=(GRID * GRID,),
        local_sizes=(None, (1024,), (8192,)),
    ),
    Row(
        name="sparse", arguments=sparse_arguments, kernel=sparse, launch=over_last,
        is_right=sparse_is_right, source=SPARSE_PRODUCT, global_size=(SPARSE,),
        local_sizes=(None, (64,), (256,), (1024,)),
    ),
)  # fmt: skip
