"""Where a unit is, as an i32: work-groups have one dimension, launches may come in parts.

A part of a launch begins at the cube `launch.first_x`, `first_y`, `first_z`; counts of cubes are
those of the whole launch.
"""

from __future__ import annotations

import math

from cubepy.codegen.structured import Expression, binary, call, primary
from cubepy.records import dataclass

__all__ = ["Positions"]

_AXES = "xyz"


def _number(value: int) -> Expression:
    return primary(str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """The positions of a kernel's units."""

    cube_dim: tuple[int, int, int]
    plane_dim: int

    @property
    def units(self) -> int:
        """Units of a cube."""
        return math.prod(self.cube_dim)

    def expression(self, name: str) -> Expression:
        """A position by the name of its op."""
        kind, _, last = name.rpartition("_")
        axis = _AXES.find(last) if len(last) == 1 else -1
        match kind if axis >= 0 else name:
            case "unit_pos":
                return self._unit(axis)
            case "cube_pos":
                return self._cube(axis)
            case "cube_count":
                return self._count(axis)
            case "absolute_pos":
                return self._absolute(axis)
            case "extent":
                return primary(f"launch.extent_{last}")
            case "unit_pos_plane":
                return self._split("%")
            case "plane_pos":
                return self._split("/")
            case _:
                raise KeyError(name)

    def _unit(self, axis: int) -> Expression:
        own = call("i32", primary("unit"))
        if axis < 0:
            return own
        x, y, _ = self.cube_dim
        if self.cube_dim[axis] == 1:
            return _number(0)
        before = (1, x, x * y)[axis]
        whole = own if before == 1 else binary("/", own, _number(before))
        beyond = any(extent > 1 for extent in self.cube_dim[axis + 1 :])
        return binary("%", whole, _number(self.cube_dim[axis])) if beyond else whole

    def _cube(self, axis: int) -> Expression:
        if axis >= 0:
            letter = _AXES[axis]
            here = call("i32", primary(f"cube.{letter}"))
            return binary("+", primary(f"launch.first_{letter}"), here)
        x, y, z = (self._cube(each) for each in range(3))
        return _row_major(x, y, z, self._count(0), self._count(1))

    def _count(self, axis: int) -> Expression:
        if axis >= 0:
            return primary(f"launch.cube_count_{_AXES[axis]}")
        first, second, third = (self._count(each) for each in range(3))
        return binary("*", binary("*", first, second), third)

    def _absolute(self, axis: int) -> Expression:
        if axis < 0:
            x, y, z = (self._absolute(each) for each in range(3))
            wide, high = (
                binary("*", self._count(each), _number(self.cube_dim[each])) for each in range(2)
            )
            return _row_major(x, y, z, wide, high)
        first = binary("*", self._cube(axis), _number(self.cube_dim[axis]))
        return binary("+", first, self._unit(axis)) if self.cube_dim[axis] > 1 else self._cube(axis)

    def _split(self, symbol: str) -> Expression:
        return binary(symbol, self._unit(-1), _number(self.plane_dim))


def _row_major(
    x: Expression, y: Expression, z: Expression, wide: Expression, high: Expression
) -> Expression:
    return binary("+", x, binary("*", wide, binary("+", y, binary("*", high, z))))
