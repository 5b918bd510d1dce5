"""The conformance suite: every row of the op table has cases, and any device can be held to them.

`cases(device)` lists all cases; a row without any is an error, so a new row is covered or the walk
fails. A runtime is done when :func:`check_case` finds nothing wrong in any of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from cubepy.ir import OpDef, ops
from cubepy.runtime import Device
from cubepy.testing.cases import Case
from cubepy.testing.control_cases import CONTROL_ROWS, control_cases
from cubepy.testing.cooperation_cases import COOPERATION_ROWS, cooperation_cases
from cubepy.testing.memory_cases import MEMORY_ROWS, memory_cases
from cubepy.testing.native_cases import native_cases
from cubepy.testing.plane_cases import PLANE_ROWS, plane_cases
from cubepy.testing.position_cases import POSITIONS, position_cases
from cubepy.testing.report_cases import REPORT_ROWS, report_cases
from cubepy.testing.value_cases import computes_a_value, constant_cases, value_cases

__all__ = ["cases", "cases_of", "rows"]

# a parameter is no operation: every case has some
NOT_RUN = frozenset({"param"})


def rows() -> tuple[str, ...]:
    """Names of all rows that have cases: the whole table."""
    return tuple(name for name in ops.BY_NAME if name not in NOT_RUN)


def cases(device: Device) -> Iterator[Case]:
    """Every case for a device."""
    for name in rows():
        yield from cases_of(name, device.target.features.plane_dim)


def cases_of(name: str, plane_dim: int) -> Iterator[Case]:
    """The cases of one row on a device with planes of `plane_dim`; LookupError if it has none."""
    row: OpDef = ops.BY_NAME[name]
    if computes_a_value(row):
        yield from value_cases(row)
    elif name == "const":
        yield from constant_cases()
    elif name in POSITIONS:
        yield from position_cases(name, plane_dim)
    elif name in MEMORY_ROWS:
        yield from memory_cases(name)
    elif name in CONTROL_ROWS:
        yield from control_cases(name)
    elif name in PLANE_ROWS:
        yield from plane_cases(name, plane_dim)
    elif name in COOPERATION_ROWS:
        yield from cooperation_cases(name, plane_dim)
    elif name == "intrinsic":
        yield from native_cases()
    elif name in REPORT_ROWS:
        yield from report_cases(name)
    else:
        raise LookupError(
            f"no conformance case for the op {name!r}\n"
            "  help: give its row an `evaluate`, or add cases for it in cubepy/testing"
        )
