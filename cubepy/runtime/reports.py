"""Reads what a launch reported: prints go to `sys.stdout` in the order of units, faults are raised.

A runtime that fills a report block (`cubepy/target/reports.py`) gives it to :func:`write_prints`
and :func:`raise_fault`; one that collects prints itself uses :class:`Prints`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from cubepy.errors import AssertionFailed, Diagnostic, LaunchError, OutOfBoundsError
from cubepy.ir import Scalar
from cubepy.late import late_import
from cubepy.location import Loc, text_at
from cubepy.records import dataclass, field
from cubepy.runtime.base import Grid
from cubepy.target import Artifact, Fault, FaultKind, Schedule, reports

__all__ = [
    "Outside",
    "Prints",
    "assertion_failed",
    "filled",
    "raise_fault",
    "report_block",
    "unit_name",
    "write_prints",
]

Words = np.ndarray[Any, np.dtype[np.int64]]
Triple = tuple[int, int, int]


def filled(text: str, values: Sequence[Any]) -> str:
    """A format with NumPy scalars in its holes, as Python prints numbers."""
    parts: list[str] = []
    remaining = iter(values)
    with late_import:
        from string import Formatter  # noqa: PLC0415 - for kernels that print or assert

    for literal, hole, form, _ in Formatter().parse(text):
        parts.append(literal)
        if hole is not None:
            value = next(remaining)
            parts.append(format(_python(value), form) if form else str(value))
    return "".join(parts)


def _python(value: Any) -> bool | int | float:
    """A NumPy scalar as the number of Python that takes a format."""
    kind = np.asarray(value).dtype.kind
    return bool(value) if kind == "b" else int(value) if kind in "iu" else float(value)


def unit_name(cube: int, unit: int, cube_count: Triple, cube_dim: Triple) -> str:
    """A unit in words, from CUBE_POS and UNIT_POS."""
    return f"unit {_place(unit, cube_dim)} of cube {_place(cube, cube_count)}"


def _place(linear: int, extent: Triple) -> str:
    """`5` where there is one axis, else `(x, y)` or `(x, y, z)`: along as many as there are."""
    rows, x = divmod(linear, extent[0])
    places = (x, rows % extent[1], rows // extent[1])
    axes = 3 if extent[2] > 1 else 2 if extent[1] > 1 else 1
    return str(x) if axes == 1 else str(places[:axes])


def assertion_failed(kernel: str, unit: str, text: str, loc: Any) -> AssertionFailed:
    """The error for an assertion that did not hold."""
    said = f": {text}" if text else ""
    return AssertionFailed(f"{kernel}: the assertion does not hold in {unit}{said}", loc)


@dataclass(slots=True)
class Prints:
    """The prints of one launch, each with its unit's CUBE_POS and UNIT_POS."""

    room: int = reports.PRINT_WORDS
    dropped: int = 0
    _lines: list[tuple[int, int, str]] = field(default_factory=list)

    def add(self, cube: int, unit: int, text: str, values: Sequence[Any]) -> None:
        """Keep a print, as long as there is room."""
        size = reports.PRINT_HEAD + len(values)
        if self.dropped or size > self.room:
            self.dropped += 1
            return
        self.room -= size
        self._lines.append((cube, unit, filled(text, values)))

    def write(self) -> None:
        """Write all to `sys.stdout`: cube after cube, unit after unit, each unit's in its order."""
        if not self._lines and not self.dropped:
            return
        self._lines.sort(key=lambda line: line[:2])
        text = "".join(line for _, _, line in self._lines)
        if self.dropped:
            text += f"… and {self.dropped} prints more than a launch has room for\n"
        sys.stdout.write(text)
        self._lines.clear()
        self.dropped = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """A subscript that is not inside of an array, in words; `loc` is that of the access."""

    name: str
    subscript: int
    length: int
    axis: int
    axes: int
    loc: Loc

    @property
    def its_length(self) -> str:
        """`its length 8`, and along which axis."""
        axis = f" along axis {self.axis}" if self.axes > 1 else ""
        return f"its length {self.length}{axis}"

    @property
    def guard(self) -> str:
        """What to ask before the access."""
        name = self.name if self.name.isidentifier() else "x"
        index = _subscript_at(self.loc, self.axis, self.axes)
        if self.subscript < 0:
            return f"{index} >= 0"
        length = f"len({name})" if self.axes == 1 else f"{name}.shape[{self.axis}]"
        return f"{index} < {length}"


def _subscript_at(loc: Loc, axis: int, axes: int) -> str:
    """A subscript as the kernel has it, if it has as many as the array has axes, else a letter."""
    with late_import:
        import ast  # noqa: PLC0415 - for a message only

    try:
        access = ast.parse(text_at(loc), mode="eval").body
    except SyntaxError:
        access = None
    if isinstance(access, ast.Subscript):
        given = access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]
        if len(given) == axes and not isinstance(given[axis], ast.Slice):
            return ast.unparse(given[axis])
    return "ijk"[axis] if axes <= 3 else "i"


def report_block(artifact: Artifact) -> Words | None:
    """An empty block for a launch of a kernel that may report something, else None."""
    if not artifact.faults and not artifact.prints:
        return None
    room = reports.PRINT_WORDS if artifact.prints else 0
    block: Words = np.zeros(reports.HEAD_WORDS + room, dtype=np.int64)
    block[reports.PRINT_SIZE] = room
    return block


def write_prints(artifact: Artifact, grid: Grid, block: Words) -> None:
    """Write what a launch printed, whether it came to its end or not."""
    used = min(int(block[reports.PRINT_USED]), int(block[reports.PRINT_SIZE]))
    if used:
        _printed(artifact, grid, block, used).write()


def raise_fault(artifact: Artifact, grid: Grid, block: Words) -> None:
    """Raise the fault that a launch reported, if any."""
    if not block[reports.FAULT]:
        return
    fault = artifact.faults[int(block[reports.FAULT]) - 1]
    words = block[reports.FAULT + 1 : reports.FAULT_VALUES]
    if fault.kind is FaultKind.BOUNDS:
        raise _outside(artifact, fault, *(int(word) for word in words))
    if fault.kind is FaultKind.TRIPS:
        raise _ended(artifact, fault)
    values = _values(block[reports.FAULT_VALUES :], fault.types)
    cube, unit = _position(artifact, grid, words)
    name = unit_name(cube, unit, grid.cube_count, artifact.cube_dim)
    raise assertion_failed(artifact.kernel_name, name, filled(fault.text, values), fault.loc)


def _printed(artifact: Artifact, grid: Grid, block: Words, used: int) -> Prints:
    found = Prints()
    at = reports.HEAD_WORDS
    end = at + used
    while at < end and block[at]:
        form = artifact.prints[int(block[at]) - 1]
        cube, unit = _position(artifact, grid, block[at + 1 : at + reports.PRINT_HEAD])
        at += reports.PRINT_HEAD
        values = _values(block[at:], form.types)
        at += len(values)
        found.add(cube, unit, form.text, values)
    found.dropped = int(block[reports.PRINT_DROPPED])
    return found


def _values(words: Words, types: Sequence[Scalar]) -> list[Any]:
    """Scalars of these types from the low bytes of words."""
    return [
        np.frombuffer(word.tobytes(), type.numpy, count=1)[0]
        for word, type in zip(words, types, strict=False)
    ]


def _position(artifact: Artifact, grid: Grid, place: Words) -> tuple[int, int]:
    """CUBE_POS and UNIT_POS of a unit's place."""
    first, second, third = (int(word) for word in place)
    if artifact.schedule is Schedule.CUBES:
        return first, second
    cube = unit = 0
    for at, dim, count in reversed(
        list(zip((first, second, third), artifact.cube_dim, grid.cube_count, strict=True))
    ):
        cube = cube * count + at // dim
        unit = unit * dim + at % dim
    return cube, unit


def _ended(artifact: Artifact, fault: Fault) -> LaunchError:
    """The error for loops that a driver ended."""
    message = (
        f"{artifact.kernel_name}: the driver of this device ended loops, for it lets those of a "
        f"unit make {fault.text} trips together; what the launch wrote is not whole"
    )
    advice = "launch it on another device, such as cpu, or over more units that do less each"
    return LaunchError(Diagnostic(message=message, loc=fault.loc, help=advice).render())


def _outside(
    artifact: Artifact, fault: Fault, axis: int, subscript: int, extent: int
) -> OutOfBoundsError:
    found = Outside(
        name=fault.text, subscript=subscript, length=extent, axis=axis, axes=fault.axes,
        loc=fault.loc,
    )  # fmt: skip
    return OutOfBoundsError(
        f"{artifact.kernel_name}: subscript {subscript} of `{fault.text}` is outside of "
        f"{found.its_length}",
        fault.loc,
        found.guard,
    )
