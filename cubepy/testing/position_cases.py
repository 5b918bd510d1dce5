"""Cases for positions, sizes and extents: every unit stores what it sees at its own place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from cubepy.testing.cases import Case
from cubepy.testing.text_cases import buffer, text_case

__all__ = ["POSITIONS", "position_cases"]

Array = np.ndarray[Any, Any]
Triple = tuple[int, int, int]

# cube counts and cube dims, with partial planes, planes across rows, and a single unit
_LAUNCHES: tuple[tuple[Triple, Triple], ...] = (
    ((3, 1, 1), (32, 1, 1)),
    ((5, 1, 1), (7, 1, 1)),
    ((2, 3, 2), (5, 2, 3)),
    ((1, 4, 1), (8, 8, 1)),
    ((1, 1, 1), (1, 1, 1)),
)

# what lowering puts around the body of a launch over a shape
_GUARD = """
          %width: index = extent_x
          %height: index = extent_y
          %depth: index = extent_z
          %in_x: bool = lt %x, %width
          %in_y: bool = lt %y, %height
          %in_z: bool = lt %z, %depth
          %in_xy: bool = bit_and %in_x, %in_y
          %in: bool = bit_and %in_xy, %in_z
          if %in {"""


class _Units:
    """All units of a launch, by cube and then by position in the cube."""

    def __init__(self, count: Triple, dim: Triple, plane_dim: int, extent: Triple) -> None:
        self.count, self.dim, self.plane_dim, self.extent = count, dim, plane_dim, extent
        units, cubes = math.prod(dim), math.prod(count)
        self.cube = np.repeat(np.arange(cubes), units)
        self.unit = np.tile(np.arange(units), cubes)

    def cube_at(self, axis: int) -> Array:
        along = self.cube // math.prod(self.count[:axis]) % self.count[axis]
        return np.asarray(along)

    def unit_at(self, axis: int) -> Array:
        along = self.unit // math.prod(self.dim[:axis]) % self.dim[axis]
        return np.asarray(along)

    def absolute_at(self, axis: int) -> Array:
        return self.cube_at(axis) * self.dim[axis] + self.unit_at(axis)

    def inside(self) -> Array:
        """Whether the unit is one of those launched."""
        below = [self.absolute_at(axis) < self.extent[axis] for axis in range(3)]
        return np.asarray(np.all(below, axis=0))

    def absolute(self) -> Array:
        width, height = (self.count[axis] * self.dim[axis] for axis in (0, 1))
        y, z = self.absolute_at(1), self.absolute_at(2)
        return np.asarray(self.absolute_at(0) + y * width + z * width * height)


def _by_axis(stem: str, value: Callable[[_Units, int], Any]) -> dict[str, Callable[[_Units], Any]]:
    def along(axis: int) -> Callable[[_Units], Any]:
        return lambda units: value(units, axis)

    return {f"{stem}_{letter}": along(axis) for axis, letter in enumerate("xyz")}


POSITIONS: Mapping[str, Callable[[_Units], Any]] = {
    "unit_pos": lambda units: units.unit,
    **_by_axis("unit_pos", _Units.unit_at),
    "unit_pos_plane": lambda units: units.unit % units.plane_dim,
    "plane_pos": lambda units: units.unit // units.plane_dim,
    "plane_dim": lambda units: units.plane_dim,
    "cube_pos": lambda units: units.cube,
    **_by_axis("cube_pos", _Units.cube_at),
    "cube_count": lambda units: math.prod(units.count),
    **_by_axis("cube_count", lambda units, axis: units.count[axis]),
    "absolute_pos": _Units.absolute,
    **_by_axis("absolute_pos", _Units.absolute_at),
    **_by_axis("extent", lambda units, axis: units.extent[axis]),
}


def position_cases(row: str, plane_dim: int) -> Iterator[Case]:
    """The row's value in every unit of some launches, plain and under a divergent branch."""
    for count, dim in _LAUNCHES:
        whole: Triple = (count[0] * dim[0], count[1] * dim[1], count[2] * dim[2])
        over = row.startswith("extent")
        extent = (max(1, whole[0] - 3), whole[1], max(1, whole[2] - 1)) if over else whole
        units = _Units(count, dim, plane_dim, extent)
        value = np.broadcast_to(np.asarray(POSITIONS[row](units)), units.unit.shape)
        size = math.prod(dim)
        body = f"""
          %x: index = absolute_pos_x
          %y: index = absolute_pos_y
          %z: index = absolute_pos_z
          {_GUARD if over else "block {"}
          %cube: index = cube_pos
          %size: index = const {size}
          %base: index = mul %cube, %size
          %unit: index = unit_pos
          %at: index = add %base, %unit
          %value: index = {row}
          store %plain, %at, %value [check=checked]
          %two: index = const 2
          %rest: index = floor_mod %unit, %two
          %zero: index = const 0
          %even: bool = eq %rest, %zero
          if %even {{
            %double: index = add %value, %value
            store %branch, %at, %double [check=checked]
          }}
          }}"""
        empty = np.full(units.unit.size, -1)
        yield text_case(
            row,
            f"{count} cubes of {dim}",
            body,
            params={"plain": buffer("index"), "branch": buffer("index")},
            arguments={"plain": empty, "branch": empty},
            expected={
                "plain": np.where(units.inside(), value, -1),
                "branch": np.where(units.inside() & (units.unit % 2 == 0), 2 * value, -1),
            },
            cube_count=count,
            cube_dim=dim,
            extent=extent,
        )
