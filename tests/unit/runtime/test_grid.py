"""Sizes of launches."""

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cubepy.errors import LaunchError
from cubepy.runtime import (
    check_cube_dim,
    cube_dim_over,
    grid_of,
    grid_over,
    shape_of,
    triple,
)
from cubepy.target import Features

FEATURES = Features(max_cube_units=1024)


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=3).map(tuple))
def test_cubes_over_a_shape_cover_it_and_no_cube_is_outside(shape: tuple[int, ...]) -> None:
    dim = cube_dim_over(shape, FEATURES)
    check_cube_dim(dim, FEATURES)
    grid = grid_over(shape, dim)
    extents = tuple(reversed(shape)) + (1,) * (3 - len(shape))
    assert grid.extent == extents
    for count, size, extent in zip(grid.cube_count, dim, extents, strict=True):
        assert (count - 1) * size < max(extent, 1)
        assert count * size >= extent
    assert (grid.cubes == 0) == (prod(shape) == 0)


def test_a_small_device_gets_small_cubes() -> None:
    small = Features(max_cube_units=64)
    assert cube_dim_over((5000,), small) == (64, 1, 1)
    assert prod(cube_dim_over((5000, 3), small)) <= 64


def test_very_many_units_in_a_row_get_long_cubes_where_a_device_likes_them() -> None:
    processor = Features(max_cube_units=8192, long_cube=8192)
    assert cube_dim_over((1 << 23,), processor) == (8192, 1, 1)
    assert cube_dim_over(((1 << 23) - 1,), processor) == (1024, 1, 1)
    assert cube_dim_over((1 << 20,), processor) == (1024, 1, 1)
    assert cube_dim_over(((1 << 20) - 1,), processor) == (256, 1, 1)
    assert cube_dim_over((4, 1 << 23), processor) == (256, 1, 1)
    assert cube_dim_over((1 << 20,), Features(max_cube_units=512, long_cube=1024)) == (512, 1, 1)


def test_exact_counts() -> None:
    grid = grid_of((3, 2, 1), (8, 4, 2))
    assert (grid.cubes, grid.extent) == (6, (24, 8, 2))


@pytest.mark.parametrize("given_sizes", [7, np.int32(7), (7,), [7, 1], (np.uint8(7), 1, 1)])
def test_numbers_of_any_kind_are_sizes(given_sizes: Any) -> None:
    assert triple(given_sizes, "cube_count") == (7, 1, 1)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (-1, "negative"),
        ((2, -3), "negative"),
        ((1, 2, 3, 4), "one to three numbers, got 4"),
        ((), "one to three"),
        (2.0, "whole number"),
        ("12", "whole number"),
        (None, "whole number"),
    ],
)
def test_other_sizes_are_refused_by_name(sizes: Any, message: str) -> None:
    with pytest.raises(LaunchError, match=f"cube_count.*{message}"):
        triple(sizes, "cube_count")
    with pytest.raises(LaunchError, match=message):
        shape_of(sizes)


def test_more_units_than_an_index_can_count_are_refused() -> None:
    for shape in ((1 << 63,), (1 << 53,), (1 << 40, 1 << 40), (0, 1 << 70)):
        with pytest.raises(LaunchError, match="more than an index can count"):
            grid_over(shape, (256, 1, 1))
    with pytest.raises(LaunchError, match="more than an index can count"):
        grid_of((1 << 60, 1, 1), (256, 1, 1))
    assert grid_over((1 << 52,), (256, 1, 1)).cubes == 1 << 44


def test_cubes_beyond_the_device_are_refused() -> None:
    with pytest.raises(LaunchError, match=r"2048 units.*at most 1024"):
        check_cube_dim((2048, 1, 1), FEATURES)
    with pytest.raises(LaunchError, match="at least one unit"):
        check_cube_dim((4, 0, 1), FEATURES)
