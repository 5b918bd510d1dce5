"""Rows as loops that Numba compiles; `prange` spreads the outermost one over threads.

Literals are f32 where the row computes in f32, which Numba would otherwise widen.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np
from numba import prange

__all__ = ["KERNELS"]

F = np.float32
HALF, ONE, TWO, FOUR = F(0.5), F(1.0), F(2.0), F(4.0)


def saxpy(a, x, y):
    for i in prange(x.size):
        y[i] = a * x[i] + y[i]


def exp(x, out):
    for i in prange(x.size):
        out[i] = math.exp(x[i])


def sin(x, out):
    for i in prange(x.size):
        out[i] = math.sin(x[i])


def power(x, out):
    for i in prange(x.size):
        out[i] = x[i] ** F(1.7)


def gelu(x, out):
    for i in prange(x.size):
        out[i] = HALF * x[i] * (ONE + math.erf(x[i] * F(0.7071067811865476)))


def tanh_gelu(x, out):
    for i in prange(x.size):
        v = x[i]
        out[i] = HALF * v * (ONE + math.tanh(F(0.7978845608) * (v + F(0.044715) * v * v * v)))


def black_scholes(price, strike, years, call):
    for i in prange(price.size):
        s, k, t = price[i], strike[i], years[i]
        deviation = F(0.3) * math.sqrt(t)
        d1 = (math.log(s / k) + F(0.065) * t) / deviation
        d2 = d1 - deviation
        worth = s * (HALF * (ONE + math.erf(d1 * F(0.70710678))))
        discounted = k * math.exp(F(-0.02) * t)
        call[i] = worth - discounted * (HALF * (ONE + math.erf(d2 * F(0.70710678))))


def grey(rgb, out):
    for i in prange(out.size):
        brightness = F(0.299) * rgb[3 * i] + F(0.587) * rgb[3 * i + 1] + F(0.114) * rgb[3 * i + 2]
        out[i] = np.uint8(brightness + HALF)


def brighten(x, out):
    for i in prange(x.size):
        v = np.uint32(x[i])
        out[i] = min(v + (v >> np.uint32(1)), np.uint32(255))


def logistic(x, out):
    for i in prange(x.size):
        out[i] = 1.0 / (1.0 + math.exp(-x[i]))


def hashes(x, out):
    for i in prange(x.size):
        h = x[i]
        for _ in range(2):
            h = np.uint32(h ^ (h >> np.uint32(16)))
            h = np.uint32(h * np.uint32(0x85EBCA6B))
            h = np.uint32(h ^ (h >> np.uint32(13)))
            h = np.uint32(h * np.uint32(0xC2B2AE35))
            h = np.uint32(h ^ (h >> np.uint32(16)))
        out[i] = h


def mandelbrot(origin_x, origin_y, step, iterations, width, counts):
    for row in prange(counts.shape[0]):
        for column in range(width):
            cx, cy = origin_x + step * F(column), origin_y + step * F(row)
            zx, zy = F(0.0), F(0.0)
            n = 0
            while n < iterations:
                xx, yy = zx * zx, zy * zy
                if xx + yy > FOUR:
                    break
                zy = TWO * zx * zy + cy
                zx = xx - yy + cx
                n += 1
            counts[row, column] = n


def n_body(x, y, z, n, pull):
    for i in prange(n):
        ax, ay, az = F(0.0), F(0.0), F(0.0)
        for j in range(n):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            near = ONE / math.sqrt(dx * dx + dy * dy + dz * dz + F(1e-3))
            cubed = near * near * near
            ax += dx * cubed
            ay += dy * cubed
            az += dz * cubed
        pull[0, i], pull[1, i], pull[2, i] = ax, ay, az


def stencil(field, width, height, out):
    for y in prange(1, height - 1):
        for x in range(1, width - 1):
            around = field[y - 1, x] + field[y + 1, x] + field[y, x - 1] + field[y, x + 1]
            out[y, x] = HALF * field[y, x] + F(0.125) * around


def swapped(x, width, out):
    for i in prange(x.size):
        out[i] = x[(i // width ^ 1) * width + i % width]


def gather(x, places, out):
    for i in prange(places.size):
        out[i] = x[places[i]]


def sparse(start, column, value, x, out):
    for row in prange(out.size):
        total = F(0.0)
        for k in range(start[row], start[row + 1]):
            total += value[k] * x[column[k]]
        out[row] = total


def plane_sums(x, sums):
    for group in prange(sums.size):
        total = F(0.0)
        for i in range(256):
            total += x[256 * group + i]
        sums[group] = total


def naive_matmul(a, b, n, c):
    for row in prange(n):
        for column in range(n):
            total = F(0.0)
            for k in range(n):
                total += a[row, k] * b[k, column]
            c[row, column] = total


KERNELS = (
    saxpy, exp, sin, power, gelu, tanh_gelu, black_scholes, grey, brighten, logistic, hashes,
    mandelbrot, n_body, stencil, swapped, gather, sparse, plane_sums, naive_matmul,
)  # fmt: skip
