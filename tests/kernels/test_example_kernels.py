"""The kernels of examples/kernels against their NumPy twins on every runtime and gang width."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy.runtime import device
from examples import kernels
from tests.opencl_devices import on_each
from tests.wgpu_devices import on_wgpu

pytestmark = pytest.mark.filterwarnings("error::cubepy.errors.CubeWarning")

Array = np.ndarray[Any, Any]

# Gangs of 4, 8, 16, 32 and 64 units; the plane is 4, 8 or 16 by the level of the machine.
GANGS = (
    "cpu:x86-64-v2+gang=4",
    "cpu:x86-64-v3+gang=8",
    "cpu:x86-64-v3+gang=16",
    "cpu:x86-64-v3+gang=32",
    "cpu:x86-64-v2+gang=64",
)
DEVICES = ("reference", "cpu", *GANGS, *on_each(), *on_wgpu())

every_device = pytest.mark.parametrize("target", DEVICES)


def normal(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def same_bits(got: Array, expected: Array) -> None:
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


@every_device
@pytest.mark.parametrize("size", [0, 1, 3, 64, 1000, 4097])
def test_saxpy(target: str, size: int) -> None:
    x, y = normal(size), normal(size, seed=2)
    expected = kernels.saxpy_numpy(2.5, x, y)
    kernels.saxpy.over(size, device=target)(2.5, x, y)
    same_bits(y, expected)


@every_device
@pytest.mark.parametrize(
    "view",
    [np.s_[::2], np.s_[::-1], np.s_[100:7:-3], np.s_[3:]],
    ids=["every second", "backwards", "every third backwards", "from 3"],
)
def test_saxpy_on_strided_views(target: str, view: slice) -> None:
    base_x, base_y = normal(500), normal(500, seed=2)
    expected = base_y.copy()
    expected[view] = kernels.saxpy_numpy(-1.25, base_x[view], base_y[view])
    kernels.saxpy.over(len(base_y[view]), device=target)(-1.25, base_x[view], base_y[view])
    same_bits(base_y, expected)


@every_device
def test_saxpy_on_itself(target: str) -> None:
    x = normal(333)
    expected = kernels.saxpy_numpy(3.0, x, x)
    kernels.saxpy.over(333, device=target)(3.0, x, x)
    same_bits(x, expected)


@every_device
def test_saxpy_reads_a_broadcast_value(target: str) -> None:
    x, y = np.broadcast_to(np.float32(1.5), (77,)), normal(77)
    expected = kernels.saxpy_numpy(2.0, x, y)
    kernels.saxpy.over(77, device=target)(2.0, x, y)
    same_bits(y, expected)


@every_device
def test_gelu(target: str) -> None:
    x = np.concatenate(
        [normal(2000) * 3, np.array([0, -0.0, 40, -40, np.inf, np.nan, 1e-40], np.float32)]
    )
    out = np.full_like(x, 9)
    kernels.gelu.over(x.size, device=target)(x, out)
    expected = kernels.gelu_numpy(x)
    np.testing.assert_array_equal(np.isnan(out), np.isnan(expected))
    # v * 0.70710678 and 1 + erf are rounded on the way, which far left costs absolute accuracy
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=4e-7)


@every_device
@pytest.mark.parametrize("shape", [(48, 64), (1, 1), (7, 33), (0, 5)])
def test_mandelbrot(target: str, shape: tuple[int, int]) -> None:
    out = np.full(shape, -1, np.int32)
    kernels.mandelbrot.over(shape, device=target)(-2.0, -1.5, 3.0 / 64, 50, out)
    same_bits(out, kernels.mandelbrot_numpy(-2.0, -1.5, 3.0 / 64, 50, shape))


@every_device
@pytest.mark.parametrize(("m", "k", "n"), [(16, 16, 16), (33, 20, 50), (1, 7, 1), (5, 0, 4)])
@pytest.mark.parametrize("tile", [4, 8])
def test_matmul(target: str, m: int, k: int, n: int, tile: int) -> None:
    a, b, c = normal(m, k), normal(k, n, seed=2), np.full((m, n), 7, np.float32)
    count = (-(-n // tile), -(-m // tile))
    kernels.matmul.launch(a, b, c, tile, cube_count=count, cube_dim=(tile, tile), device=target)
    same_bits(c, kernels.matmul_numpy(a, b, tile))


@every_device
def test_matmul_of_transposed_views(target: str) -> None:
    a, b, c = normal(19, 24).T, normal(30, 19, seed=2).T, np.zeros((30, 24), np.float32).T
    kernels.matmul.launch(a, b, c, 8, cube_count=(4, 3), cube_dim=(8, 8), device=target)
    same_bits(c, kernels.matmul_numpy(a, b, 8))


@every_device
@pytest.mark.parametrize("cube_dim", [1, 2, 8, 64, 256])
@pytest.mark.parametrize("size", [1, 100, 1000])
def test_block_sum(target: str, cube_dim: int, size: int) -> None:
    x = normal(size)
    out = np.zeros(-(-size // cube_dim), np.float32)
    kernels.block_sum.launch(x, out, cube_count=out.size, cube_dim=cube_dim, device=target)
    same_bits(out, kernels.block_sum_numpy(x, cube_dim))


@every_device
@pytest.mark.parametrize("shape", [(5, 100), (3, 1), (2, 37), (1, 4)])
def test_softmax_rows(target: str, shape: tuple[int, int]) -> None:
    x, out = normal(*shape) * 4, np.full(shape, 9, np.float32)
    plane = device(target).target.features.plane_dim
    kernels.softmax_rows.launch(x, out, cube_count=shape[0], cube_dim=plane, device=target)
    np.testing.assert_allclose(out, kernels.softmax_rows_numpy(x), rtol=2e-6, atol=1e-30)


@every_device
@pytest.mark.parametrize("size", [0, 1, 5000])
def test_histogram(target: str, size: int) -> None:
    x = (np.random.default_rng(1).normal(size=size) * 40 + 128).clip(0, 255).astype(np.uint8)
    counts = np.zeros(256, np.uint32)
    kernels.histogram.over(size, device=target)(x, counts)
    same_bits(counts, kernels.histogram_numpy(x))


@every_device
@pytest.mark.parametrize(
    ("height", "width", "window", "pad"), [(20, 30, 3, 1), (6, 5, 5, 3), (9, 8, 2, 0)]
)
def test_conv2d(target: str, height: int, width: int, window: int, pad: int) -> None:
    image, weights = normal(height, width), normal(window, window, seed=2)
    shape = (height + 2 * pad - window + 1, width + 2 * pad - window + 1)
    out = np.full(shape, 9, np.float32)
    kernels.conv2d.over(shape, device=target)(image, weights, out, pad)
    same_bits(out, kernels.conv2d_numpy(image, weights, pad))


@every_device
@pytest.mark.parametrize("shape", [(40, 25), (1, 1), (33, 0)])
def test_first_match(target: str, shape: tuple[int, int]) -> None:
    rows, out = normal(*shape), np.full(shape[0], 9, np.int32)
    kernels.first_match.over(shape[0], device=target)(rows, 1.4, out)
    same_bits(out, kernels.first_match_numpy(rows, 1.4))


@every_device
def test_collatz_lengths(target: str) -> None:
    start = np.arange(300, dtype=np.uint32)
    out = np.full(300, 9, np.int32)
    kernels.collatz_lengths.over(300, device=target)(start, 60, out)
    same_bits(out, kernels.collatz_lengths_numpy(start, 60))


@every_device
@pytest.mark.parametrize("taps", [1, 4, 7])
def test_fir(target: str, taps: int) -> None:
    x, weights, out = normal(500), normal(taps, seed=2), np.full(500, 9, np.float32)
    kernels.fir.over(500, device=target)(x, weights, out, TAPS=taps)
    same_bits(out, kernels.fir_numpy(x, weights, 500))


@every_device
def test_to_polar(target: str) -> None:
    corners = np.array([0, -0.0, 1, -1, 2], np.float32)
    x = np.concatenate([normal(100), np.repeat(corners, 5)])
    y = np.concatenate([normal(100, seed=2), np.tile(corners, 5)])
    radius, quadrant = np.full_like(x, 9), np.full(x.size, 9, np.int32)
    kernels.to_polar.over(x.size, device=target)(x, y, radius, quadrant)
    expected = kernels.to_polar_numpy(x, y)
    same_bits(radius, expected[0])
    same_bits(quadrant, expected[1])


@every_device
@pytest.mark.parametrize("count", [1, 5, 70])
def test_nbody(target: str, count: int) -> None:
    world = kernels.World(*(cb.f32(each) for each in (0.5, 0.25, 0.125)))
    bodies, velocities = normal(4 * count), normal(4 * count, seed=2)
    velocities[3::4] = 0
    faster, moved = velocities.copy(), np.zeros_like(bodies)
    kernels.nbody.over(count, device=target)(world, bodies, faster, moved)
    expected = kernels.nbody_numpy(world, bodies, velocities)
    same_bits(faster, expected[0])
    same_bits(moved, expected[1])
