"""Where a unit is, from what OpenCL tells of its work-item.

Work-groups have the cube's shape. A kernel that speaks of planes has them in one dimension, for
sub-groups follow the linear order only there; its units then work their place out.
"""

from __future__ import annotations

from cubepy.codegen.structured import Expression, binary, call, primary, unary
from cubepy.records import dataclass

__all__ = ["Positions"]

_AXES = "xyz"


def _asked(name: str, axis: int) -> Expression:
    return unary("(long)", call(name, primary(str(axis))))


def _number(value: int) -> Expression:
    return primary(str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """`linear`: work-groups have one dimension."""

    cube_dim: tuple[int, int, int]
    linear: bool
    plane_dim: int

    @property
    def group(self) -> tuple[int, int, int]:
        """The shape of a work-group."""
        x, y, z = self.cube_dim
        return (x * y * z, 1, 1) if self.linear else self.cube_dim

    def expression(self, name: str) -> Expression:
        """A position by the name of its op."""
        kind, _, last = name.rpartition("_")
        axis = _AXES.find(last)
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
        x, y, _ = self.cube_dim
        if axis < 0:
            return self._linear_unit()
        if self.cube_dim[axis] == 1:
            return _number(0)
        if not self.linear:
            return _asked("get_local_id", axis)
        own = _asked("get_local_id", 0)
        before = (1, x, x * y)[axis]
        whole = own if before == 1 else binary("/", own, _number(before))
        beyond = any(extent > 1 for extent in self.cube_dim[axis + 1 :])
        return binary("%", whole, _number(self.cube_dim[axis])) if beyond else whole

    def _linear_unit(self) -> Expression:
        x, y, z = self.cube_dim
        own = _asked("get_local_id", 0)
        if self.linear or (y == 1 and z == 1):
            return own
        rows = _asked("get_local_id", 1)
        if z > 1:
            deep = binary("*", _number(y), _asked("get_local_id", 2))
            rows = binary("+", rows, deep)
        return binary("+", own, binary("*", _number(x), rows))

    def _cube(self, axis: int) -> Expression:
        if axis >= 0:
            return _asked("get_group_id", axis)
        x, y, z = (_asked("get_group_id", each) for each in range(3))
        wide, high = _asked("get_num_groups", 0), _asked("get_num_groups", 1)
        return _row_major(x, y, z, wide, high)

    def _count(self, axis: int) -> Expression:
        if axis >= 0:
            return _asked("get_num_groups", axis)
        first, second, third = (_asked("get_num_groups", each) for each in range(3))
        return binary("*", binary("*", first, second), third)

    def _absolute(self, axis: int) -> Expression:
        if axis < 0:
            x, y, z = (self._absolute(each) for each in range(3))
            wide, high = (self._along(each) for each in range(2))
            return _row_major(x, y, z, wide, high)
        if not self.linear:
            return _asked("get_global_id", axis)
        first = binary("*", _asked("get_group_id", axis), _number(self.cube_dim[axis]))
        return binary("+", first, self._unit(axis))

    def _along(self, axis: int) -> Expression:
        """Units of the launch along an axis."""
        if not self.linear:
            return _asked("get_global_size", axis)
        return binary("*", _asked("get_num_groups", axis), _number(self.cube_dim[axis]))

    def _split(self, symbol: str) -> Expression:
        return binary(symbol, self._linear_unit(), _number(self.plane_dim))


def _row_major(
    x: Expression, y: Expression, z: Expression, wide: Expression, high: Expression
) -> Expression:
    return binary("+", x, binary("*", wide, binary("+", y, binary("*", high, z))))
