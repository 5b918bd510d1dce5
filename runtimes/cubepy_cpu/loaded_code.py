"""What launches need of an artifact that was loaded on the CPU."""

from __future__ import annotations

from cubepy.records import dataclass
from cubepy.runtime import Grid
from cubepy.target import Schedule

__all__ = ["Code"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Code:
    """What a launch needs of a loaded artifact. `reports`: whether it may report anything."""

    entry: int
    schedule: Schedule
    task_units: int
    task_rows: int
    cube_units: int
    arena_bytes: int
    work_per_unit: int
    lanes: int
    reports: bool

    def tasks(self, grid: Grid) -> int:
        """How many tasks a launch has; see `Schedule`."""
        if not self.schedule.crosses_cubes:
            return grid.cubes
        x, y, z = grid.extent
        if self.schedule is Schedule.COLUMNS:
            x, y = y, x
        return -(-x // self.task_units) * -(-y // self.task_rows) * z

    def work(self, grid: Grid) -> int:
        """Roughly how many nanoseconds one thread needs: a vector operation takes about one."""
        x, y, z = grid.extent
        units = x * y * z if self.schedule.crosses_cubes else grid.cubes * self.cube_units
        return max(1, units * self.work_per_unit // self.lanes)
