"""What a kernel tells the host besides its results: the block that emitters and runtimes share.

The word REPORT of the argument block is the address of a block of 64-bit words. The first fault of
a launch claims its head: `FAULT` is the fault's number, counted from 1 in `Artifact.faults`. Prints
are appended behind the head, as many as fit. A place of a unit is three words: x, y, z in the
launch for the schedules ROWS and COLUMNS, else CUBE_POS, UNIT_POS and 0.
"""

from __future__ import annotations

from enum import Enum

from cubepy.ir import Op, Scalar
from cubepy.location import Loc
from cubepy.records import dataclass

__all__ = [
    "FAULT",
    "FAULT_VALUES",
    "HEAD_WORDS",
    "MOST_FAULT_VALUES",
    "PRINT_DROPPED",
    "PRINT_HEAD",
    "PRINT_SIZE",
    "PRINT_USED",
    "PRINT_WORDS",
    "Fault",
    "FaultKind",
    "Print",
]

FAULT = 0  # number of the fault; then three words: axis, subscript, length, or the unit's place
FAULT_VALUES = 4  # what an assertion's text speaks of, raw bits in the low bytes
MOST_FAULT_VALUES = 8
PRINT_USED = FAULT_VALUES + MOST_FAULT_VALUES  # words that prints asked for
PRINT_SIZE = PRINT_USED + 1  # words there are for prints
PRINT_DROPPED = PRINT_USED + 2  # prints that found no room
HEAD_WORDS = PRINT_USED + 4
PRINT_HEAD = 4  # words of a print before its values: its number from 1, the unit's place
PRINT_WORDS = 1 << 17  # room for the prints of a launch


class FaultKind(Enum):
    """What was found."""

    BOUNDS = "bounds"
    ASSERTION = "assertion"
    TRIPS = "trips"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A place that may report a fault. `text`: the memory's name, or the assertion's text, in which
    values of `types` are filled, or the trips after which a driver ends loops. `axes`: how many the
    memory has.
    """

    kind: FaultKind
    text: str
    loc: Loc
    types: tuple[Scalar, ...] = ()
    axes: int = 1

    @classmethod
    def of_check(cls, check: Op) -> Fault:
        """What a `check_bounds` reports."""
        name, axes = str(check.attrs["name"]), check.attrs.get("axes", 1)
        assert isinstance(axes, int)
        return cls(kind=FaultKind.BOUNDS, text=name, loc=check.loc, axes=axes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Print:
    """A `print` of a kernel: the text, in which values of `types` are filled."""

    text: str
    types: tuple[Scalar, ...]
