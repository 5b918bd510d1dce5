"""What one unit of a launch met: values it read or was told, values it stored, in order."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, NamedTuple

from cubepy.compiler import finish
from cubepy.errors import CubeError, CubeTypeError, Diagnostic, LaunchError
from cubepy.interp import Mask, ReferenceDevice, Reports, State, at_lane, has_lane
from cubepy.ir import Kernel, Op, ops
from cubepy.records import dataclass
from cubepy.replay.positions import Positions
from cubepy.runtime import Grid, launch

__all__ = ["Event", "Recording", "Unit", "record", "unit_at"]

# Ops that a replay does by itself: they touch nothing but the unit's own variables.
OWN = (ops.LOCAL, ops.LOAD_LOCAL, ops.STORE_LOCAL, ops.CONST, ops.TUPLE_GET)
# No value comes of these.
SILENT = (ops.SHARED, ops.LOCAL_ARRAY, ops.SYNC_CUBE, ops.SYNC_STORAGE, ops.FENCE, ops.ASSERT,
          ops.CHECK_BOUNDS, ops.PRINT)  # fmt: skip


class Unit(NamedTuple):
    """A unit of a launch: the number of its cube, and its own in the cube."""

    cube: int
    number: int


class Event(NamedTuple):
    """What came of an op in the unit: its value, or for a store what was stored, and where."""

    op: Op
    value: Any
    place: tuple[int, ...] = ()


@dataclass(slots=True, kw_only=True)
class Recording:
    """`kernel` is the one that ran; `fault` what ended the launch, if anything did."""

    kernel: Kernel
    unit: Unit
    positions: Positions
    events: list[Event]
    fault: CubeError | None = None


def unit_at(place: int | tuple[int, ...], grid: Grid, kernel: Kernel, sizes: str = "") -> Unit:
    """The unit with this position in the launch: x, y, z, or ABSOLUTE_POS.

    `sizes` are those of the launch as they were written.
    """
    at = _position(place, grid.extent, kernel)
    if not all(0 <= each < size for each, size in zip(at, grid.extent, strict=True)):
        whole = " × ".join(map(str, grid.extent))
        raise LaunchError(
            f"no unit {place}: {kernel.name}{sizes} has {whole} units along x, y, z\n"
            "  help: positions count from 0: `unit` is ABSOLUTE_POS, or a tuple of x, y, z"
        )
    cube = [each // dim for each, dim in zip(at, kernel.cube_dim, strict=True)]
    inside = [each % dim for each, dim in zip(at, kernel.cube_dim, strict=True)]
    counts, dims = grid.cube_count, kernel.cube_dim
    return Unit(
        cube=cube[0] + counts[0] * (cube[1] + counts[1] * cube[2]),
        number=inside[0] + dims[0] * (inside[1] + dims[1] * inside[2]),
    )


def _position(place: object, extent: Sequence[int], kernel: Kernel) -> tuple[int, int, int]:
    """x, y, z of a unit, given so or by one number."""
    try:
        if isinstance(place, tuple):
            x, y, z = (*map(index, place), 0, 0)[: max(3, len(place))]
            return x, y, z
        number = index(place)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise CubeTypeError(
            Diagnostic(
                message=f"the unit to step through is {place!r}",
                loc=kernel.loc,
                help="its ABSOLUTE_POS, a whole number: unit=5; or its x, y, z: unit=(5, 0, 0)",
            )
        ) from None
    width, height = (max(1, size) for size in extent[:2])
    return number % width, number // width % height, number // (width * height)


def record(kernel: Kernel, grid: Grid, values: Sequence[Any], unit: Unit) -> Recording:
    """Launch a kernel of the front end on the interpreter, and write down what a unit meets.

    Races and reads of unwritten memory do not end the launch: they may be what is looked for.
    """
    events: list[Event] = []

    def watch(state: State, op: Op, mask: Mask) -> None:
        lane = (unit.cube - state.batch.first) * state.batch.units + unit.number
        if not 0 <= unit.cube - state.batch.first < state.batch.count or not has_lane(mask, lane):
            return
        if op.opdef is ops.STORE:
            *place, value = (at_lane(state.values[each], lane)[()] for each in op.operands[1:])
            events.append(Event(op, value, tuple(map(int, place))))
        elif op.opdef not in OWN and op.opdef not in SILENT:
            found = state.values.get(op)
            if found is not None:
                found = at_lane(found, lane)[()]
            events.append(Event(op, found))

    device = ReferenceDevice(watch, Reports(races="none", unwritten=False, barriers=False))
    loaded = device.load(finish(kernel, device.target).artifact)
    ran, plane_dim = loaded.handle, device.target.plane_dim(loaded.handle)
    cube, number = unit
    positions = Positions(kernel=ran, grid=grid, plane_dim=plane_dim, cube=cube, number=number)
    recording = Recording(kernel=ran, unit=unit, positions=positions, events=events)
    try:
        launch(device, loaded, grid, values)
    except CubeError as error:
        recording.fault = error
    return recording
