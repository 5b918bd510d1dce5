"""How units are laid out over SIMD lanes: lanes, parts, schedule, and what that makes of each
position.

A *gang* is `parts` vectors of `lanes` units. With the ROWS schedule a gang is `width` neighbours
along x of the whole launch, across cubes, with COLUMNS along y; with CUBES it is `width` neighbours
of one cube in linear order. `seed_shape` says for each position op whether it is uniform over the
gang, affine in the lane, or varying.
"""

from __future__ import annotations

from cubepy.codegen.llvm.alone import better_alone
from cubepy.codegen.llvm.bands import rows_and_vectors
from cubepy.codegen.llvm.direction import LOOP_WEIGHT, runs_along_y
from cubepy.codegen.llvm.pressure import held_in_loops
from cubepy.errors import ConfigError
from cubepy.ir import (
    BOOL,
    INDEX,
    BufferType,
    Kernel,
    Op,
    PrivateType,
    Scalar,
    SharedType,
    Trait,
    ops,
    walk,
)
from cubepy.ir.analyses import UNIFORM, VARYING, Shape, Uniformity, analyze_uniformity, part
from cubepy.records import dataclass, replace
from cubepy.target import Schedule, Target

__all__ = ["Layout", "plan_layout"]

_TASK_WORK = 1 << 19
_MAX_TASK_UNITS = 1 << 14
# Ops of a body from which on LLVM's time counts for more than what several vectors a gang gain: its
# register allocator takes time that grows with the square of a block's length. From the second on
# they gain nothing: LLVM puts what is independent in so long a block one after the other.
_LONG, _VERY_LONG = 400, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """`lanes` units a vector, `parts` vectors a gang, which lie in `rows` rows one below the
    other; `work` estimates the operations of one unit. `why` and `order` say for people why the
    gang is so wide, and which units are in it.

    `reach` is the width of the kernel's widest gang, and `banded` tells whether some gang has
    several rows: what positions are over one gang they are over any other, so that versions of
    different widths can be analysed as one. `alone`: a gang is one unit, all of whose values are
    scalars.
    """

    schedule: Schedule
    lanes: int
    parts: int
    plane_dim: int
    cube_dim: tuple[int, int, int]
    work: int
    why: str
    order: str
    reach: int
    rows: int = 1
    banded: bool = False
    alone: bool = False

    @property
    def description(self) -> str:
        """The choice and its reasons, for people."""
        if self.alone:
            return f"one unit at a time, in scalars ({self.why}); {self.order}"
        vectors = f"{self.columns} vectors of {self.lanes}" if self.columns > 1 else "one vector"
        rows = f"{self.rows} rows of " if self.rows > 1 else ""
        return (
            f"gangs of {self.rows * self.width} units, {rows}{vectors} ({self.why}); {self.order}"
        )

    @property
    def columns(self) -> int:
        """Vectors of a gang in each of its rows."""
        return self.parts // self.rows

    @property
    def width(self) -> int:
        """Units of a gang beside each other: all, or those of one of its rows."""
        return self.lanes * self.columns

    @property
    def units(self) -> int:
        """Units of a cube."""
        return self.cube_dim[0] * self.cube_dim[1] * self.cube_dim[2]

    @property
    def gangs(self) -> int:
        """Gangs of a cube (CUBES)."""
        return -(-self.units // self.width)

    @property
    def along(self) -> str:
        """The axis of the launch that a row's units follow each other on."""
        return "y" if self.schedule is Schedule.COLUMNS else "x"

    @property
    def across(self) -> str:
        """The axis on which rows lie beside each other."""
        return "x" if self.schedule is Schedule.COLUMNS else "y"

    @property
    def task_units(self) -> int:
        """Units of a task in each of its rows (ROWS, COLUMNS): a multiple of the width, fewer the
        more a unit works; one gang where a task is many rows.
        """
        if self.banded:
            return self.width
        wanted = min(_MAX_TASK_UNITS, _TASK_WORK // max(1, self.work))
        return max(1, wanted // self.width) * self.width

    @property
    def task_rows(self) -> int:
        """Rows of a task: one, or many gangs one below the other."""
        if not self.banded:
            return 1
        wanted = min(_MAX_TASK_UNITS, _TASK_WORK // max(1, self.work)) // self.width
        return max(1, wanted // self.rows) * self.rows

    def narrow(self) -> Layout:
        """The same with one vector a gang: less code, for versions of a body that seldom run."""
        return replace(self, parts=1, rows=1)

    def one_row(self) -> Layout:
        """The same with a single row, for rows that are left over."""
        return replace(self, parts=self.columns, rows=1)

    def seed_shape(self, op: Op) -> Shape:
        """The shape of an op without operands over a gang."""
        return self.seed_shape_named(op.opdef.name)

    def seed_shape_named(self, name: str) -> Shape:
        """The shape of the position op of that name."""
        if self.alone:
            return UNIFORM
        if self.banded and name == f"absolute_pos_{self.across}":
            return part(0)
        if self.schedule is Schedule.COLUMNS:
            return part(1) if name == "absolute_pos_y" else UNIFORM
        if self.schedule is Schedule.ROWS:
            return self._row_shape(name)
        return self._cube_shape(name)

    def _row_shape(self, name: str) -> Shape:
        dim_x = self.cube_dim[0]
        if name in ("absolute_pos", "absolute_pos_x"):
            return part(1)
        if name in ("cube_pos", "cube_pos_x"):
            return part(1) if dim_x == 1 and name == "cube_pos_x" else self._cube_of_row(dim_x)
        if name in ("unit_pos", "unit_pos_x"):
            return UNIFORM if dim_x == 1 else self._aligned(dim_x, 1)
        if name in ("plane_pos", "unit_pos_plane"):
            return VARYING
        return UNIFORM

    def _cube_of_row(self, dim_x: int) -> Shape:
        return UNIFORM if dim_x % self.reach == 0 else self._aligned(dim_x, 0)

    def _aligned(self, dim_x: int, stride: int) -> Shape:
        return part(stride) if dim_x % self.lanes == 0 else VARYING

    def _cube_shape(self, name: str) -> Shape:
        dim_x, dim_y, dim_z = self.cube_dim
        if name == "unit_pos":
            return part(1)
        if name in ("unit_pos_x", "absolute_pos_x"):
            return UNIFORM if dim_x == 1 else self._along(dim_x, 1, flat=dim_y * dim_z == 1)
        if name in ("unit_pos_y", "absolute_pos_y"):
            return UNIFORM if dim_y == 1 else self._second(dim_x, dim_y * dim_x, flat=dim_z == 1)
        if name in ("unit_pos_z", "absolute_pos_z"):
            return UNIFORM if dim_z == 1 else self._aligned(dim_x * dim_y, 0)
        if name == "absolute_pos":
            return UNIFORM if self.units == 1 else self._along(dim_x, 1, flat=dim_y * dim_z == 1)
        if name == "plane_pos":
            return part(0) if self.plane_dim % self.lanes == 0 else VARYING
        if name == "unit_pos_plane":
            return part(1) if self.plane_dim % self.lanes == 0 else VARYING
        return UNIFORM

    def _along(self, dim_x: int, stride: int, *, flat: bool) -> Shape:
        return part(stride) if flat else self._aligned(dim_x, stride)

    def _second(self, dim_x: int, area: int, *, flat: bool) -> Shape:
        if dim_x % self.lanes == 0:
            return part(0)
        return part(1) if dim_x == 1 and (flat or area % self.lanes == 0) else VARYING


def plan_layout(kernel: Kernel, target: Target) -> Layout:
    """Schedule and gang width of a kernel; the option `gang` of the target fixes the width."""
    cooperating = _cooperating(kernel)
    plane = target.plane_dim(kernel)
    schedule = Schedule.CUBES if cooperating is not None else _rows_or_columns(kernel, target)
    lanes = plane
    parts, why = _parts(kernel, target, schedule)
    fixed = target.option("gang")
    if fixed:
        lanes, parts = _fixed(fixed, plane, planes_used=_uses_planes(kernel))
        why = "asked for"
    units = kernel.cube_dim[0] * kernel.cube_dim[1] * kernel.cube_dim[2]
    if schedule is Schedule.CUBES and not fixed:
        fitting = _fit(-(-units // lanes), parts)
        if fitting != parts:
            parts, why = fitting, f"as a cube has {units} units"
    layout = Layout(
        schedule=schedule, lanes=lanes, parts=parts, plane_dim=plane, cube_dim=kernel.cube_dim,
        work=_work(kernel), why=why, order=_order(schedule, cooperating), reach=lanes * parts,
    )  # fmt: skip
    if fixed:
        single = layout.width == 1 and schedule.crosses_cubes and target.does("alone")
        return replace(layout, alone=single)
    return _alone(_in_bands(layout, kernel, target), kernel, target)


def _alone(layout: Layout, kernel: Kernel, target: Target) -> Layout:
    """The same for one unit at a time, where lanes would hinder each other."""
    if layout.banded or not layout.schedule.crosses_cubes or not target.does("alone"):
        return layout

    def analyze() -> Uniformity:
        return analyze_uniformity(
            kernel.body, params=kernel.params, seed=layout.seed_shape, uniform_load=uniform_memory
        )

    if not better_alone(kernel, layout.lanes, analyze):
        return layout
    why = "a loop of each unit's own length, over elements from all over memory"
    return replace(layout, lanes=1, parts=1, reach=1, alone=True, why=why)


def _in_bands(layout: Layout, kernel: Kernel, target: Target) -> Layout:
    """The same in several rows, where what is loaded for one serves the others."""
    if not layout.schedule.crosses_cubes or layout.parts == 1 or not target.does("bands"):
        return layout
    found = rows_and_vectors(kernel, layout.across, _registers(target))
    if found is None:
        return layout
    rows, columns = found
    return replace(
        layout, rows=rows, parts=rows * columns, banded=rows > 1, reach=layout.lanes * columns,
        why="what a loop loads serves all rows",
    )  # fmt: skip


def _order(schedule: Schedule, cooperating: Op | None) -> str:
    """Which units a gang holds and why, for people."""
    if cooperating is not None:
        word = cooperating.opdef.name
        line = f" (line {cooperating.loc.line})" if cooperating.loc.known else ""
        return f"cube by cube, since units work together: {word}{line}"
    if schedule is Schedule.COLUMNS:
        return "along y across cubes, as memory runs along y"
    return "along x across cubes, as no unit can tell which others run beside it"


def _rows_or_columns(kernel: Kernel, target: Target) -> Schedule:
    turned = target.does("columns") and runs_along_y(kernel)
    return Schedule.COLUMNS if turned else Schedule.ROWS


def _fixed(asked: str, plane: int, *, planes_used: bool) -> tuple[int, int]:
    width = int(asked) if asked.isdecimal() else 0
    if width < 1 or width & (width - 1):
        raise ConfigError(f"gang={asked}: a gang width is a power of two")
    if width < plane and planes_used:
        raise ConfigError(f"gang={width}: plane ops need at least the plane size, {plane}")
    return (width, 1) if width < plane else (plane, width // plane)


def _fit(planes: int, parts: int) -> int:
    """The largest number of parts up to `parts` that divides the cube's planes, or else covers them
    best.
    """
    for number in range(min(parts, planes), 0, -1):
        if planes % number == 0 and number * 2 > min(parts, planes):
            return number
    return min(parts, planes)


def _cooperating(kernel: Kernel) -> Op | None:
    """The first op by which units of a cube can tell that they run together, so that gangs must
    not cross cubes.
    """
    found = (
        op
        for op in walk(kernel.body)
        if op.opdef is ops.SHARED
        or op.opdef.has(Trait.BARRIER)
        or op.opdef.has(Trait.PLANE)
        or (op.opdef.has(Trait.ATOMIC) and _waits(kernel))
    )
    return next(found, None)


def _waits(kernel: Kernel) -> bool:
    """Whether a `while` loop holds an atomic: it may wait for an earlier cube."""
    return any(
        op.opdef is ops.WHILE
        and any(inner.opdef.has(Trait.ATOMIC) for region in op.regions for inner in walk(region))
        for op in walk(kernel.body)
    )


def _uses_planes(kernel: Kernel) -> bool:
    return any(op.opdef.has(Trait.PLANE) for op in walk(kernel.body))


def _parts(kernel: Kernel, target: Target, schedule: Schedule) -> tuple[int, str]:
    """Registers a value: as many as hide latency at little cost, two where many values are
    64-bit, fewer in long bodies. And why, for people.
    """
    if not target.does("several"):
        return 1, "asked for"
    length = sum(1 for _ in walk(kernel.body))
    barriers = any(op.opdef.has(Trait.BARRIER) for op in walk(kernel.body))
    if schedule is Schedule.CUBES and barriers and target.features.mask_registers:
        if length < 120:
            return 16, "a short body between barriers, and mask registers"
        return 4, "a long body between barriers: more would not fit in registers"
    if schedule is Schedule.CUBES and barriers and length < 120 and held_in_loops(kernel) == 1:
        return 8, "a loop between barriers holds one value, so many fit in registers"
    if length > _LONG:
        if length > _VERY_LONG:
            return 1, "so long a body that LLVM would put several one after the other"
        return 2, "a long body: more takes too long to compile"
    wide = sum(1 for op in walk(kernel.body) if _computes_wide(op))
    total = sum(
        1 for op in walk(kernel.body) if isinstance(op.type, Scalar) and op.type is not BOOL
    )
    if wide * 3 > total:
        return 2, "many values of 64 bits, of which a vector holds half as many"
    # A quarter more than there are: some are spilled at no cost, for others latency is hidden.
    if 4 * held_in_loops(kernel) * 4 > 5 * _registers(target):
        return 2, "a loop holds many values"
    return 4, "so many hide the latency of most instructions"


def _registers(target: Target) -> int:
    """Vector registers of a processor."""
    few = target.features.triple.startswith("x86_64") and not target.features.mask_registers
    return 16 if few else 32


def _computes_wide(op: Op) -> bool:
    scalar = op.type
    return isinstance(scalar, Scalar) and scalar.bits == 64 and scalar is not INDEX


def _work(kernel: Kernel) -> int:
    """A rough count of operations a unit runs: loops count sixteen times a level."""

    def weigh(region_ops: tuple[Op, ...]) -> int:
        total = 0
        for op in region_ops:
            inner = sum(weigh(region.ops) for region in op.regions)
            total += 1 + inner * (LOOP_WEIGHT if op.opdef in (ops.FOR, ops.WHILE) else 1)
        return total

    return max(1, weigh(kernel.body.ops))


def uniform_memory(memory: Op) -> bool:
    """Whether all lanes of a gang read one value at one subscript: all memory but private
    arrays.
    """
    return isinstance(memory.type, BufferType | SharedType) and not isinstance(
        memory.type, PrivateType
    )
