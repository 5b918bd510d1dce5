"""What an emitter hands to a runtime: text or bytes, the entry, the ABI, the line map."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING

from cubepy.ir import Access
from cubepy.location import Loc
from cubepy.records import dataclass, field
from cubepy.target.abi import Abi
from cubepy.target.reports import Fault, Print
from cubepy.target.target import Target

if TYPE_CHECKING:
    from cubepy.target.decisions import Decision

__all__ = ["FOREIGN", "Artifact", "Schedule"]


#: A line of the text of a CPU artifact that has instructions in a user's own words.
FOREIGN = "; has instructions in the kernel's own words"


class Schedule(Enum):
    """What the tasks of a CPU entry are.

    CUBES: task t is the cube with CUBE_POS t. ROWS: the launch is seen as rows of units along x
    (`row_units` = count_x * dim_x, or the extent of x where the launch is over a shape; rows = all
    y, z positions), `Artifact.task_rows` neighbours along y are a band (the last of them may have
    fewer), and each band is cut into pieces of `Artifact.task_units` units a row: task t is piece
    t % pieces of band t // pieces. COLUMNS: the same with x and y in each other's place.
    """

    CUBES = "cubes"
    ROWS = "rows"
    COLUMNS = "columns"

    @property
    def crosses_cubes(self) -> bool:
        """Whether a task's units may belong to several cubes."""
        return self is not Schedule.CUBES


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """`text` in the target's language, or `binary`. `entry` is the symbol to launch.

    `access` tells for each parameter whether it is read or written; `line_map` maps a line of
    `text` to the place in the kernel; `arena_bytes` is the scratch a CPU entry needs per thread;
    `faults` and `prints` are what the numbers in a report block stand for. `decisions` say what the
    emitter chose and why, for people.
    """

    target: Target
    kernel_name: str
    entry: str
    text: str
    abi: Abi
    cube_dim: tuple[int, int, int]
    access: tuple[Access, ...]
    binary: bytes = b""
    schedule: Schedule = Schedule.CUBES
    task_units: int = 0
    task_rows: int = 1
    over: bool = False
    arena_bytes: int = 0
    work_per_unit: int = 1
    line_map: Mapping[int, Loc] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    prints: tuple[Print, ...] = ()
    decisions: tuple[Decision, ...] = ()
