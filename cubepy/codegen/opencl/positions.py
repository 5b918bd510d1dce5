"""Where a unit is, from what OpenCL tells of its work-item.

Work-groups have the cube's shape. A kernel that speaks of planes has them in one dimension, for
sub-groups follow the linear order only there; its units then work their place out.
"""

from __future__ import annotations

from cubepy.codegen.structured import Expression, Positions, binary, call, number, primary, unary
from cubepy.records import dataclass

__all__ = ["OpenclPositions"]


def _asked(name: str, axis: int) -> Expression:
    return unary("(long)", call(name, primary(str(axis))))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenclPositions(Positions):
    """`linear`: work-groups have one dimension. `planes`: they consist of sub-groups of the planes'
    size.
    """

    linear: bool
    planes: bool

    @property
    def group(self) -> tuple[int, int, int]:
        """The shape of a work-group."""
        return (self.units, 1, 1) if self.linear else self.cube_dim

    def unit(self, axis: int) -> Expression:
        """The local id."""
        if axis < 0:
            return self._linear_unit()
        if self.linear or self.cube_dim[axis] == 1:
            return self.part_of_linear(_asked("get_local_id", 0), axis)
        return _asked("get_local_id", axis)

    def unit_in_plane(self) -> Expression:
        """What compilers know to be neighbours in one sub-group, which a remainder hides."""
        if not self.planes:
            return Positions.unit_in_plane(self)
        return unary("(long)", call("get_sub_group_local_id"))

    def _linear_unit(self) -> Expression:
        x, y, z = self.cube_dim
        own = _asked("get_local_id", 0)
        if self.linear or (y == 1 and z == 1):
            return own
        rows = _asked("get_local_id", 1)
        if z > 1:
            deep = binary("*", number(y), _asked("get_local_id", 2))
            rows = binary("+", rows, deep)
        return binary("+", own, binary("*", number(x), rows))

    def cube(self, axis: int) -> Expression:
        """The group's id."""
        return _asked("get_group_id", axis)

    def count(self, axis: int) -> Expression:
        """The number of groups."""
        return _asked("get_num_groups", axis)

    def absolute(self, axis: int) -> Expression:
        """The global id."""
        if not self.linear:
            return _asked("get_global_id", axis)
        return binary(
            "+", binary("*", self.cube(axis), number(self.cube_dim[axis])), self.unit(axis)
        )

    def along(self, axis: int) -> Expression:
        """The global size."""
        if not self.linear:
            return _asked("get_global_size", axis)
        # explicit, for a slotted dataclass makes the class anew
        return Positions.along(self, axis)
