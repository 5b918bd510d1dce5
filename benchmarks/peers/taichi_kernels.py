"""Rows as Taichi kernels: the outermost loop of each is spread over threads."""

# The annotations are another compiler's language.
# mypy: ignore-errors

import taichi as ti

__all__ = ["KERNELS"]

Array = ti.types.ndarray()


@ti.kernel
def saxpy(a: ti.f32, x: Array, y: Array):
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]


@ti.kernel
def exp(x: Array, out: Array):
    for i in range(x.shape[0]):
        out[i] = ti.exp(x[i])


@ti.kernel
def sin(x: Array, out: Array):
    for i in range(x.shape[0]):
        out[i] = ti.sin(x[i])


@ti.kernel
def power(x: Array, out: Array):
    for i in range(x.shape[0]):
        out[i] = x[i] ** 1.7


@ti.kernel
def tanh_gelu(x: Array, out: Array):
    for i in range(x.shape[0]):
        v = x[i]
        out[i] = 0.5 * v * (1.0 + ti.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))


@ti.kernel
def mandelbrot(
    origin_x: ti.f32, origin_y: ti.f32, step: ti.f32, iterations: ti.i32, width: ti.i32,
    counts: Array,
):  # fmt: skip
    for row, column in ti.ndrange(width, width):
        cx, cy = origin_x + step * column, origin_y + step * row
        zx, zy = 0.0, 0.0
        n = 0
        while n < iterations:
            xx, yy = zx * zx, zy * zy
            if xx + yy > 4.0:
                break
            zy = 2.0 * zx * zy + cy
            zx = xx - yy + cx
            n += 1
        counts[row, column] = n


@ti.kernel
def n_body(x: Array, y: Array, z: Array, n: ti.i32, pull: Array):
    for i in range(n):
        ax, ay, az = 0.0, 0.0, 0.0
        for j in range(n):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            near = 1.0 / ti.sqrt(dx * dx + dy * dy + dz * dz + 1e-3)
            cubed = near * near * near
            ax += dx * cubed
            ay += dy * cubed
            az += dz * cubed
        pull[0, i], pull[1, i], pull[2, i] = ax, ay, az


@ti.kernel
def stencil(field: Array, width: ti.i32, height: ti.i32, out: Array):
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            around = field[y - 1, x] + field[y + 1, x] + field[y, x - 1] + field[y, x + 1]
            out[y, x] = 0.5 * field[y, x] + 0.125 * around


@ti.kernel
def gather(x: Array, places: Array, out: Array):
    for i in range(x.shape[0]):
        out[i] = x[places[i]]


KERNELS = (saxpy, exp, sin, power, tanh_gelu, mandelbrot, n_body, stencil, gather)
