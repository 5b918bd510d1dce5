"""The cubes that the machine runs side by side, and where each of their units stands.

Lane numbers count the units of a batch: cube after cube in CUBE_POS order, the units of a cube in
UNIT_POS order. Nothing here knows ops; `position` answers for the ops of that name.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from cubepy.interp.masks import Value
from cubepy.records import dataclass, field
from cubepy.runtime import Grid, unit_name

__all__ = ["Batch", "batches"]

AXES = ("x", "y", "z")
Triple = tuple[int, int, int]


def _apart(linear: Value, extent: Triple) -> tuple[Value, Value, Value]:
    """A linear number as x, y, z, x fastest."""
    if extent[1] == extent[2] == 1:
        return linear, np.asarray(0), np.asarray(0)
    x = linear % extent[0]
    y = linear // extent[0] % extent[1]
    return x, y, linear // (extent[0] * extent[1])


@dataclass(kw_only=True)
class Batch:
    """`count` cubes from number `first` of the launch on. `plane_dim`: units of a plane."""

    grid: Grid
    cube_dim: Triple
    plane_dim: int
    first: int
    count: int
    _known: dict[str, Value] = field(default_factory=dict)

    @cached_property
    def units(self) -> int:
        """Units of one cube."""
        return self.cube_dim[0] * self.cube_dim[1] * self.cube_dim[2]

    @cached_property
    def planes(self) -> int:
        """Planes of one cube; the last may be partial."""
        return -(-self.units // self.plane_dim)

    @cached_property
    def lanes(self) -> int:
        """Units of the batch."""
        return self.count * self.units

    @cached_property
    def all_lanes(self) -> Value:
        """The numbers of all units of the batch."""
        return np.arange(self.lanes)

    @cached_property
    def cube_of_lane(self) -> Value:
        """Number of a lane's cube in the batch; 0-d where there is one cube."""
        if self.count == 1:
            return np.asarray(0)
        return np.repeat(np.arange(self.count), self.units)

    @cached_property
    def unit_of_lane(self) -> Value:
        """UNIT_POS of each lane."""
        return np.tile(np.arange(self.units), self.count)

    @cached_property
    def plane_of_lane(self) -> Value:
        """Number of each lane's plane in the batch."""
        inside = self.unit_of_lane // self.plane_dim
        return np.asarray(inside + self.cube_of_lane * self.planes)

    @cached_property
    def inside(self) -> Value | bool:
        """Which units the launch asked for; those beyond its shape fill the last cubes."""
        x, y, z = (
            self.position(f"absolute_pos_{axis}") < extent
            for axis, extent in zip(AXES, self.grid.extent, strict=True)
        )
        inside = np.broadcast_to(x & y & z, (self.lanes,))
        return bool(inside.all()) or inside

    def position(self, name: str) -> Value:
        """The value of the position op `name` in every unit."""
        if name not in self._known:
            self._known[name] = np.asarray(self._position(name), dtype=np.int64)
        return self._known[name]

    def _position(self, name: str) -> Value | int:
        head, _, axis = name.rpartition("_")
        if axis in AXES:
            return self._on_axis(head, AXES.index(axis))
        match name:
            case "unit_pos":
                return self.unit_of_lane
            case "unit_pos_plane":
                return self.unit_of_lane % self.plane_dim
            case "plane_pos":
                return self.unit_of_lane // self.plane_dim
            case "plane_dim":
                return self.plane_dim
            case "cube_pos":
                return self.first + self.cube_of_lane
            case "cube_count":
                return self.grid.cubes
            case "absolute_pos":
                return self._absolute()
        raise KeyError(name)

    def _on_axis(self, head: str, axis: int) -> Value | int:
        match head:
            case "unit_pos":
                return _apart(self.unit_of_lane, self.cube_dim)[axis]
            case "cube_pos":
                return _apart(self.position("cube_pos"), self.grid.cube_count)[axis]
            case "cube_count":
                return self.grid.cube_count[axis]
            case "extent":
                return self.grid.extent[axis]
            case "absolute_pos":
                letter = AXES[axis]
                cube = self.position(f"cube_pos_{letter}")
                return cube * self.cube_dim[axis] + self.position(f"unit_pos_{letter}")
        raise KeyError(head)

    def _absolute(self) -> Value:
        width, height = (self.grid.cube_count[axis] * self.cube_dim[axis] for axis in (0, 1))
        x, y, z = (self.position(f"absolute_pos_{letter}") for letter in AXES)
        return np.asarray(x + y * width + z * (width * height))

    def name(self, lane: int) -> str:
        """The unit in words, for reports."""
        return self.name_of(self.first * self.units + lane)

    def name_of(self, number: int) -> str:
        """Unit `number` of the launch, cube after cube, in words."""
        cube, unit = divmod(number, self.units)
        return unit_name(cube, unit, self.grid.cube_count, self.cube_dim)


def batches(grid: Grid, cube_dim: Triple, plane_dim: int, size: int) -> Iterator[Batch]:
    """All cubes of a launch in order, at most `size` at a time."""
    for first in range(0, grid.cubes, size):
        count = min(size, grid.cubes - first)
        yield Batch(grid=grid, cube_dim=cube_dim, plane_dim=plane_dim, first=first, count=count)
