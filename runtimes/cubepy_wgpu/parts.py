"""A launch in parts: a device takes so many cubes along an axis, and no more."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from cubepy.runtime import Grid

__all__ = ["Part", "parts_of"]

Triple = tuple[int, int, int]
# The first cube, and how many there are from it on.
Part = tuple[Triple, Triple]


def parts_of(grid: Grid, limit: int) -> Iterator[Part]:
    """The parts of a grid, none of them with more than `limit` cubes along an axis."""
    along = [
        [(first, min(limit, count - first)) for first in range(0, count, limit)]
        for count in grid.cube_count
    ]
    for z, y, x in itertools.product(along[2], along[1], along[0]):
        yield (x[0], y[0], z[0]), (x[1], y[1], z[1])
