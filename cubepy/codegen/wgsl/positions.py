"""Where a unit is, as an i32: work-groups have one dimension, launches may come in parts.

A part of a launch begins at the cube `launch.first_x`, `first_y`, `first_z`; counts of cubes are
those of the whole launch.
"""

from __future__ import annotations

from cubepy.codegen.structured import Expression, Positions, binary, call, number, primary
from cubepy.records import dataclass

__all__ = ["WgslPositions"]

_AXES = "xyz"


@dataclass(frozen=True, slots=True, kw_only=True)
class WgslPositions(Positions):
    """The entry has `unit` and `cube` from WGSL's built-in values."""

    def unit(self, axis: int) -> Expression:
        """From the index in the work-group."""
        own = call("i32", primary("unit"))
        return own if axis < 0 else self.part_of_linear(own, axis)

    def cube(self, axis: int) -> Expression:
        """The work-group's id, behind those of earlier parts."""
        letter = _AXES[axis]
        here = call("i32", primary(f"cube.{letter}"))
        return binary("+", primary(f"launch.first_{letter}"), here)

    def count(self, axis: int) -> Expression:
        """A word of the launch."""
        return primary(f"launch.cube_count_{_AXES[axis]}")

    def absolute(self, axis: int) -> Expression:
        """Cubes before, and the place in the cube."""
        if self.cube_dim[axis] == 1:
            return self.cube(axis)
        first = binary("*", self.cube(axis), number(self.cube_dim[axis]))
        return binary("+", first, self.unit(axis))
