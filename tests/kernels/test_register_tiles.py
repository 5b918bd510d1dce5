"""The register-tiled product: right at every edge, and with nothing but its arithmetic inside."""

import re

import numpy as np
import pytest

from examples.kernels import product, register_tiles
from examples.showcase import hot_loop

Shape = tuple[int, int, int]
SHAPES = [(1, 1, 1), (3, 0, 4), (0, 3, 4), (5, 7, 9), (6, 64, 32), (20, 70, 33), (13, 150, 65)]


def whole_numbers(*shape: int, seed: int) -> np.ndarray:
    """Of which sums are exact in f32, in whatever order."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(np.float32)


@pytest.mark.parametrize("target", ["reference", "cpu", "cpu:x86-64-v2", "cpu:x86-64-v3+gang=8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_cubes_of_one_gang_and_of_several(target: str, shape: Shape) -> None:
    m, inner, n = shape
    a, b = whole_numbers(m, inner, seed=1), whole_numbers(inner, n, seed=2)
    for width in (8, 16):
        c = np.full((m, n), np.nan, np.float32)
        cubes = (-(-n // (2 * width)), 2)
        register_tiles.launch(a, b, c, cube_count=cubes, cube_dim=width, device=target)
        np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("shape", [*SHAPES, (40, 1030, 130)])
@pytest.mark.parametrize("turned", ["", "a", "b", "ab"])
def test_product_of_matrices_and_transposed_views(shape: Shape, turned: str) -> None:
    m, inner, n = shape
    a, b = whole_numbers(m, inner, seed=3), whole_numbers(inner, n, seed=4)
    c = np.full((m, n), np.nan, np.float32)
    given = [
        np.ascontiguousarray(each.T).T if name in turned else each
        for name, each in (("a", a), ("b", b))
    ]
    product(given[0], given[1], c)
    np.testing.assert_array_equal(c, a @ b)


def test_the_inner_loop_is_loads_broadcasts_and_products_alone() -> None:
    """No spill, no bounds test, no address that could have been had outside."""
    a = np.zeros((64, 64), np.float32)
    launcher = register_tiles[4, 16]
    stages = launcher.inspect(
        a, a.copy(), a.copy(), ROWS=6, DEPTH=1024, STRIPS=4, target="cpu:x86-64-v3"
    )
    lines = hot_loop(stages).splitlines()
    assert sum("vfmadd" in line for line in lines) == 12
    assert sum("vbroadcastss" in line for line in lines) == 6
    assert sum("vmovups" in line for line in lines) == 2
    assert not re.search(r"%rsp|cmov|imul", "\n".join(lines))
    assert len(lines) <= 20 + 8
