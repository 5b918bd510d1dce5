"""The same launch on several devices: the first element that differs, the unit that wrote it, and
what that unit's variables were on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cubepy.comparison import differences
from cubepy.compiler import finish
from cubepy.debug.tracing import Step, trace
from cubepy.errors import LaunchError
from cubepy.interp import Mask, ReferenceDevice, Reports, State, at_lane, has_lane
from cubepy.ir import BufferType, Kernel, Op, Trait, ops
from cubepy.launcher import Launcher
from cubepy.location import UNKNOWN, Loc, excerpt
from cubepy.records import dataclass
from cubepy.runtime import Device, Grid, launch
from cubepy.runtime import device as find_device

__all__ = ["Comparison", "Local", "compare"]

Place = tuple[int, ...]
#: What is compared unless the caller says: what a kernel means, and what it does here.
DEVICES = ("reference", "cpu")


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """A variable of the unit and its last value on both sides before they went apart."""

    name: str
    left: Any
    right: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`devices` are those two that differ, or all if none does; `unit` is x, y, z in the launch.

    `loc` is where a variable of the unit first became something else; UNKNOWN if all were the same.
    """

    devices: tuple[str, ...]
    argument: str = ""
    place: Place = ()
    left: Any = None
    right: Any = None
    unit: Place = ()
    loc: Loc = UNKNOWN
    locals: tuple[Local, ...] = ()

    @property
    def same(self) -> bool:
        """Whether all devices gave the same bits."""
        return not self.argument

    def __bool__(self) -> bool:
        return self.same

    def __str__(self) -> str:
        if self.same:
            return f"the same on {', '.join(self.devices)}"
        left, right = self.devices
        at = ", ".join(map(str, self.place))
        lines = [f"{self.argument}[{at}] is {self.left!r} on {left} and {self.right!r} on {right}"]
        if self.unit:
            lines.append(f"  written by the unit at {self.unit}")
        if self.loc.known:
            lines += [f"{self.loc}: its variables first differ here", excerpt(self.loc)]
            width = max(len(each.name) for each in self.locals)
            lines += [
                f"  {each.name:<{width}}  {each.left!r} on {left}"
                + (f", {each.right!r} on {right}" if repr(each.left) != repr(each.right) else "")
                for each in self.locals
            ]
        elif self.unit:
            lines.append("  its variables are the same on both: an access, or what is not named")
            if "reference" not in self.devices:
                lines.append("  help: this may be a race: launch it with device='reference'")
        return "\n".join(lines)


def compare(
    kernel: Launcher,
    arguments: Sequence[Any] = (),
    devices: Sequence[str | Device] = DEVICES,
    **keywords: Any,
) -> Comparison:
    """Launch on every device with copies of the arguments, and look for the first difference.

    `kernel` is one with its sizes, `k.over(n)` or `k[count, dim]`; `keywords` are arguments of the
    kernel by name. All of them stay as they are.
    """
    _check(kernel, arguments, devices)
    arguments = kernel.bound(arguments, keywords)
    found = [find_device(each) if isinstance(each, str) else each for each in devices]
    first, *others = found
    wanted = _launched(kernel, arguments, first)
    for other in others:
        difference = _difference(wanted, _launched(kernel, arguments, other))
        if difference is not None:
            return _explained(kernel, arguments, first, other, difference)
    return Comparison(devices=tuple(each.name for each in found))


def _check(kernel: object, arguments: object, devices: object) -> None:
    """Refuse what would fail later without a word on why."""
    if not isinstance(kernel, Launcher):
        name = getattr(getattr(kernel, "source", None), "name", "kernel")
        raise LaunchError(
            f"compare needs a kernel with its sizes, not {kernel!r}\n"
            f"  help: {name}.over(n), or {name}[cube_count, cube_dim]"
        )
    if not isinstance(arguments, Sequence) or isinstance(arguments, str | bytes):
        raise LaunchError(
            f"compare takes the arguments in one tuple, not {type(arguments).__name__}\n"
            f"  help: cb.debug.compare(kernel.over(n), (x, out))"
        )
    if isinstance(devices, str) or not isinstance(devices, Sequence) or len(devices) < 2:
        raise LaunchError(
            "compare needs two devices\n  help: for example devices=['reference', 'cpu']"
        )


def _copies(arguments: Sequence[Any]) -> list[Any]:
    return [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]


def _launched(kernel: Launcher, arguments: Sequence[Any], device: Device) -> list[Any]:
    own = _copies(arguments)
    kernel.at(device)(*own)
    return own


def _difference(wanted: list[Any], got: list[Any]) -> tuple[int, Place, Any, Any] | None:
    """Which argument, where, and both values."""
    for number, (left, right) in enumerate(zip(wanted, got, strict=True)):
        if isinstance(left, np.ndarray):
            wrong = differences(right, left)
            if wrong.size:
                place = tuple(int(at) for at in np.unravel_index(int(wrong[0]), left.shape))
                return number, place, left[place], right[place]
    return None


def _explained(
    kernel: Launcher,
    arguments: Sequence[Any],
    first: Device,
    other: Device,
    difference: tuple[int, Place, Any, Any],
) -> Comparison:
    number, place, left, right = difference
    grid, lowered, _, own = kernel.lowered(_copies(arguments))
    shown = kernel.parameters[number]
    unit = _writer(lowered, grid, own, shown, place)
    loc: Loc = UNKNOWN
    locals: tuple[Local, ...] = ()
    if unit is not None:
        sides = [_traced(kernel, arguments, device, unit) for device in (first, other)]
        loc, locals = _parting(*sides)
    return Comparison(
        devices=(first.name, other.name), argument=shown, place=place, left=left, right=right,
        unit=unit or (), loc=loc, locals=locals,
    )  # fmt: skip


def _traced(
    kernel: Launcher, arguments: Sequence[Any], device: Device, unit: tuple[int, int, int]
) -> list[Step]:
    grid, lowered, _, own = kernel.lowered(_copies(arguments), device.target)
    return trace(lowered, grid, list(own), unit, device)


def _parting(left: list[Step], right: list[Step]) -> tuple[Loc, tuple[Local, ...]]:
    """Where the traces go apart, and the last values of all variables up to there."""
    values: dict[str, Local] = {}
    for a, b in zip(left, right, strict=False):
        values[a.name] = Local(name=a.name, left=a.value, right=b.value)
        if a != b and not (a.loc == b.loc and a.value != a.value and b.value != b.value):
            return a.loc, tuple(values.values())
    if len(left) != len(right):
        return max(left, right, key=len)[min(len(left), len(right))].loc, tuple(values.values())
    return UNKNOWN, ()


def _writer(
    kernel: Kernel, grid: Grid, values: Sequence[Any], name: str, place: Place
) -> tuple[int, int, int] | None:
    """The unit that wrote an element last, when the interpreter runs the launch."""
    found: list[tuple[int, int, int]] = []

    def watch(state: State, op: Op, mask: Mask) -> None:
        if op.opdef is not ops.STORE and not op.opdef.has(Trait.ATOMIC):
            return
        memory = op.operands[0]
        if not isinstance(memory.type, BufferType) or memory.name != name:
            return
        indices = [state.values[each] for each in op.operands[1 : 1 + memory.type.rank]]
        for lane in range(state.batch.lanes):
            if has_lane(mask, lane) and place == tuple(int(at_lane(i, lane)) for i in indices):
                x, y, z = (
                    int(at_lane(state.batch.position(f"absolute_pos_{axis}"), lane))
                    for axis in "xyz"
                )
                found.append((x, y, z))

    device = ReferenceDevice(watch, Reports(races="none", unwritten=False, barriers=False))
    loaded = device.load(finish(kernel, device.target).artifact)
    launch(device, loaded, grid, values)
    return found[-1] if found else None
