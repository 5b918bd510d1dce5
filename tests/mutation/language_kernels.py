"""Small kernels that between them have every statement and expression kernels know."""

# mypy: ignore-errors
# ruff: noqa

import math
from typing import NamedTuple, TypeVar

import numpy as np

import cubepy as cb
from cubepy import (
    Array,
    Comptime,
    Tensor,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    index,
    u8,
    u16,
    u32,
    u64,
)

F = TypeVar("F", bound=cb.Float)
OFFSETS = (1, 2, 4)
SCALE = 0.5


class Point(NamedTuple):
    x: float
    y: float = 0.0


def helper(v, k=2, *, sign=1.0):
    if v < 0.0:
        return -sign * v, k
    for step in range(k):
        if v > 10.0:
            break
        v *= 2.0
    else:
        return v, -k
    return v + SCALE, k + 1


def matching(x, out):
    i = cb.ABSOLUTE_POS
    match x[i]:
        case 0:
            out[i] = 1
        case 1 | 2:
            out[i] = x[i] * 3
        case -1:
            return
        case 3 | 4 as k if k > i:
            out[i] = k
        case k if (half := k // 2) > 2:
            out[i] = half
        case other:
            out[i] = other // 2
    match i, out[i]:
        case (0, v) if v > 1:
            out[i] += v
        case (_, 7):
            out[i] = -7


def loops(x, out, n: i32):
    i = cb.ABSOLUTE_POS
    total = 0
    k = 0
    while k < n:
        k += 1
        if k % 3 == 0:
            continue
        if total > 100:
            break
        total += x[i] & k
    else:
        total = -total
    for a, b in ((1, 2), (3, 4)):
        total += a * b
    for j in range(n, -1, -2):
        total ^= j if j > 1 and x[j] != 0 else ~j
    for c in cb.unroll(range(3)):
        if x[c] == 2:
            break
        total -= c << 1
    out[i] = i32(total)


def scopes(x, out):
    i = cb.ABSOLUTE_POS
    a, *rest = 1.0, 2.0, 3.0
    double = lambda v: v * 2.0 + a

    def inner(v, w=1.0):
        if v > w:
            return v
        return double(w)

    if (y := x[i]) > 0.5 or 0.0 < -y < 0.25:
        a, b = y, a
        z = inner(a) + b
    elif not y < -1.0:
        z = double(y) if y != 0.0 else rest[0]
    else:
        z = -1.0
    p = Point(z)
    out[i] = p.x + p.y + sum(OFFSETS) + abs(min(z, y, 0.0))
    out[i] += len(rest) * max(1, 2)


def helped(x, out, count: Comptime[int] = 3):
    i = cb.ABSOLUTE_POS
    v, k = helper(x[i], count, sign=-1.0)
    w, _ = helper(v)
    assert count > 0, f"count is {count}"
    out[i] = w if k > 0 else v + f32(k)


def generic(x: Array[F], out: Array[F], factor: F):
    i = cb.ABSOLUTE_POS
    v = cb.cast(F, 1) + x[i] * factor
    out[i] = cb.fma(v, v, cb.sqrt(abs(v))) - cb.floor(v) % 2.0


def integers(x: Array[u32], y: Array[i16], out: Array[i64]):
    i = cb.ABSOLUTE_POS
    a = x[i]
    h = (a ^ 61) ^ (a >> 16)
    h = (h * 9) & ~7
    q, r = divmod(y[i], 7)
    small = i64(y[i] < 3) if i < 2 else -(y[i] // 3)
    out[i] = i64(h) + q * r + cb.popcount(a) ** 2 + i64(cb.rotl(a, 3)) + small


def cooperate(x, out):
    tile = cb.shared(f32, (2, cb.CUBE_DIM))
    u, i = cb.UNIT_POS, cb.ABSOLUTE_POS
    tile[0, u] = x[i] if i < len(x) else 0.0
    cb.sync_cube()
    own = cb.local_array(f32, 4, 0.0)
    for k in range(4):
        own[k] = tile[0, (u + k) % cb.CUBE_DIM]
    best = own[0]
    for k in range(1, 4):
        best = max(best, own[k])
    s = cb.plane_sum(best, where=u > 1)
    cb.atomic_add(out, 0, i32(cb.plane_any(s > 1.0)))
    if cb.plane_elect():
        cb.atomic_max(out, 1, i32(s))


def mathematics(x, out):
    i = cb.ABSOLUTE_POS
    v = x[i]
    m, e = cb.frexp(v)
    out[i] = (
        cb.exp(-v * v)
        + cb.sin(v) ** 2
        + cb.ldexp(m, e)
        + cb.atan2(v, 1.0)
        + v**3
        + 2.0**v
        + math.pi
    )


def matrices(a: Tensor[f32], b: Tensor[f64], out: Tensor[f64]):
    rows, cols = a.shape
    r, c = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
    if r >= rows or c >= cols:
        return
    acc = 0.0
    for k in range(cols):
        acc += a[r, k] * b[k % b.shape[0], c]
    out[r, c] = a.dtype(acc) / (1.0 + a.ndim)


def views(x, t, out, lo, hi):
    i = cb.ABSOLUTE_POS
    part = x[lo:hi:2]
    rest = part[1:][::-1]
    table = x.reshape(-1, 3)
    turned = t.view((t.shape[1], t.shape[0]), lambda a, b: (b, a))
    row = t[i % 3]
    assert lo <= hi, f"{lo} to {hi:3d} of {x[0]:.2f}"
    total = 0.0
    for k in range(len(row)):
        total += row[k] * turned[k, 1]
    if i < len(rest):
        rest[i] = total + table[i, 2]
        print("rest", i, rest[i], (part[i], table.shape), sep="|")
    out[i] = rest[i] + t[:, 2][i] + t[1, 1:].reshape(2, -1)[1, 0]


def ordered(x, flags, out):
    i = cb.ABSOLUTE_POS
    x[i] = x[i] + 1
    cb.fence("device")
    before = cb.atomic_add(flags, i, 1, order="acq_rel")
    cb.atomic_store(flags, i, before + 2, order="release")
    near = cb.plane_shuffle_xor(x[i], 1, where=before > 0)
    first = cb.plane_elect(where=x[i] > 2)
    cb.sync_storage()
    out[i] = cb.atomic_load(flags, i, order="acquire") + near + (10 if first else 0)
    out[i] += cb.intrinsic("cpu", "llvm.abs", near, False, fallback=lambda v, w: abs(v))
