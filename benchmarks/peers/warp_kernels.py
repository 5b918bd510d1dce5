"""Rows as Warp kernels, one thread an element; on the CPU Warp runs them one after the other."""

# The annotations are another compiler's language.
# mypy: ignore-errors

import warp as wp

__all__ = ["KERNELS"]

F32 = wp.array(dtype=wp.float32)
PLANE = wp.array2d(dtype=wp.float32)
I32 = wp.array(dtype=wp.int32)


@wp.kernel
def saxpy(a: wp.float32, x: F32, y: F32):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def exp(x: F32, out: F32):
    i = wp.tid()
    out[i] = wp.exp(x[i])


@wp.kernel
def sin(x: F32, out: F32):
    i = wp.tid()
    out[i] = wp.sin(x[i])


@wp.kernel
def power(x: F32, out: F32):
    i = wp.tid()
    out[i] = wp.pow(x[i], 1.7)


@wp.kernel
def tanh_gelu(x: F32, out: F32):
    i = wp.tid()
    v = x[i]
    out[i] = 0.5 * v * (1.0 + wp.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))


@wp.kernel
def stencil(field: PLANE, width: wp.int32, height: wp.int32, out: PLANE):
    y, x = wp.tid()
    if y > 0 and y < height - 1 and x > 0 and x < width - 1:
        around = field[y - 1, x] + field[y + 1, x] + field[y, x - 1] + field[y, x + 1]
        out[y, x] = 0.5 * field[y, x] + 0.125 * around


@wp.kernel
def gather(x: F32, places: I32, out: F32):
    i = wp.tid()
    out[i] = x[places[i]]


KERNELS = (saxpy, exp, sin, power, tanh_gelu, stencil, gather)
