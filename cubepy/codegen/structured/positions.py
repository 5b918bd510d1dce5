"""Where a unit is, as far as C-like targets say it alike: by the name of a position op."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from cubepy.codegen.structured.expression import Expression, binary, primary
from cubepy.records import dataclass

__all__ = ["Positions", "number"]

AXES = "xyz"


def number(value: int) -> Expression:
    """A whole number."""
    return primary(str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions(ABC):
    """The positions of a kernel's units. A target says how a unit and its cube are asked for; axes
    are 0, 1, 2, and -1 for linear order, x fastest.
    """

    cube_dim: tuple[int, int, int]
    plane_dim: int

    @property
    def units(self) -> int:
        """Units of a cube."""
        return math.prod(self.cube_dim)

    def expression(self, name: str) -> Expression:
        """A position by the name of its op."""
        kind, _, last = name.rpartition("_")
        axis = AXES.find(last) if len(last) == 1 else -1
        match kind if axis >= 0 else name:
            case "unit_pos":
                return self.unit(axis)
            case "cube_pos":
                return self.cube(axis) if axis >= 0 else self._linear_cube()
            case "cube_count":
                return self.count(axis) if axis >= 0 else self._all_cubes()
            case "absolute_pos":
                return self.absolute(axis) if axis >= 0 else self._linear_absolute()
            case "extent":
                return primary(f"launch.extent_{last}")
            case "unit_pos_plane":
                return self.unit_in_plane()
            case "plane_pos":
                return binary("/", self.unit(-1), number(self.plane_dim))
            case _:
                raise KeyError(name)

    @abstractmethod
    def unit(self, axis: int) -> Expression:
        """Position in the cube; along -1 too."""

    @abstractmethod
    def cube(self, axis: int) -> Expression:
        """Position of the cube along an axis."""

    @abstractmethod
    def count(self, axis: int) -> Expression:
        """Cubes of the launch along an axis."""

    @abstractmethod
    def absolute(self, axis: int) -> Expression:
        """Position in the launch along an axis."""

    def unit_in_plane(self) -> Expression:
        """Position in the plane."""
        own = self.unit(-1)
        return own if self.units == self.plane_dim else binary("%", own, number(self.plane_dim))

    def along(self, axis: int) -> Expression:
        """Units of the launch along an axis."""
        return binary("*", self.count(axis), number(self.cube_dim[axis]))

    def part_of_linear(self, own: Expression, axis: int) -> Expression:
        """Position in the cube along an axis, from the linear one."""
        x, y, _ = self.cube_dim
        if self.cube_dim[axis] == 1:
            return number(0)
        before = (1, x, x * y)[axis]
        whole = own if before == 1 else binary("/", own, number(before))
        beyond = any(extent > 1 for extent in self.cube_dim[axis + 1 :])
        return binary("%", whole, number(self.cube_dim[axis])) if beyond else whole

    def _linear_cube(self) -> Expression:
        x, y, z = (self.cube(axis) for axis in range(3))
        return _row_major(x, y, z, self.count(0), self.count(1))

    def _all_cubes(self) -> Expression:
        first, second, third = (self.count(axis) for axis in range(3))
        return binary("*", binary("*", first, second), third)

    def _linear_absolute(self) -> Expression:
        x, y, z = (self.absolute(axis) for axis in range(3))
        return _row_major(x, y, z, self.along(0), self.along(1))


def _row_major(
    x: Expression, y: Expression, z: Expression, wide: Expression, high: Expression
) -> Expression:
    return binary("+", x, binary("*", wide, binary("+", y, binary("*", high, z))))
