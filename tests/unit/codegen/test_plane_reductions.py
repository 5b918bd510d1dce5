"""Reductions of several planes at once: the bits of plane by plane, and of trees over lanes."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb

PLANES = (1, 3, 4, 8)
DTYPES = ("f4", "f8", "f2", "bf16", "i1", "u2", "i4", "i8")
Numbers = np.ndarray[Any, Any]


@cb.cube
def reductions(x: Any, sums: Any, products: Any, least: Any, most: Any) -> None:
    """Four reductions of every plane, at each of its units."""
    i = cb.ABSOLUTE_POS
    sums[i] = cb.plane_sum(x[i])
    products[i] = cb.plane_prod(x[i])
    least[i] = cb.plane_min(x[i])
    most[i] = cb.plane_max(x[i])


def sample(dtype: str, count: int) -> Numbers:
    chance = np.random.default_rng(count)
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bf16" else dtype)
    if dtype[0] in "iu":
        return chance.integers(0, 100, count).astype(kind)
    values = chance.standard_normal(count)
    values[::5], values[3::17] = -0.0, 0.0
    return values.astype(kind)


def reduced(x: Numbers, units: int, device: str) -> list[bytes]:
    out = [np.zeros_like(x) for _ in range(4)]
    reductions.launcher(x.size // units, units, device=device)(x, *out)
    return [each.tobytes() for each in out]


@pytest.mark.parametrize(
    ("target", "dtype"), [*(("cpu", dtype) for dtype in DTYPES), ("cpu:x86-64-v2", "f4")]
)
def test_planes_at_once_give_the_bits_of_planes_one_by_one(target: str, dtype: str) -> None:
    plane = cb.device(target).target.features.plane_dim
    for units in (*(count * plane for count in PLANES[1:]), 3 * plane + 1):
        x = sample(dtype, 3 * units)
        alone = reduced(x, units, f"{target}+without=planes")
        assert reduced(x, units, target) == alone, units


@pytest.mark.parametrize("planes", PLANES)
def test_sums_are_trees_over_neighbouring_lanes(planes: int) -> None:
    plane = cb.device("cpu").target.features.plane_dim
    x, out = sample("f4", planes * plane), [np.zeros(planes * plane, np.float32) for _ in range(4)]
    reductions[1, planes * plane](x, *out)
    level = x.reshape(planes, plane)
    while level.shape[1] > 1:
        level = level[:, ::2] + level[:, 1::2]
    assert np.array_equal(out[0].reshape(planes, plane), np.repeat(level, plane, axis=1))
