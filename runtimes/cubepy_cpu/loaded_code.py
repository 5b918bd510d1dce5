"""What launches need of an artifact that was loaded on the CPU."""

from __future__ import annotations

from cubepy.records import dataclass
from cubepy.runtime import Grid

__all__ = ["Code"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Code:
    """What a launch needs of a loaded artifact. `reports`: whether it may report anything."""

    entry: int
    rows: bool
    task_units: int
    cube_units: int
    arena_bytes: int
    work_per_unit: int
    lanes: int
    reports: bool

    def tasks(self, grid: Grid) -> int:
        """How many tasks a launch has; see `Schedule`."""
        if not self.rows:
            return grid.cubes
        x, y, z = grid.extent
        return -(-x // self.task_units) * y * z

    def work(self, grid: Grid) -> int:
        """Roughly how many nanoseconds one thread needs: a vector operation takes about one."""
        x, y, z = grid.extent
        units = x * y * z if self.rows else grid.cubes * self.cube_units
        return max(1, units * self.work_per_unit // self.lanes)
