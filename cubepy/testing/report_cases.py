"""Cases for what units tell the host: assertions that hold or do not, prints beside other work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cubepy.errors import AssertionFailed
from cubepy.testing.cases import Case
from cubepy.testing.text_cases import buffer, text_case

__all__ = ["REPORT_ROWS", "report_cases"]

UNITS, CUBES = 24, 2
REPORT_ROWS = frozenset({"assert", "print"})


def report_cases(row: str) -> Iterator[Case]:
    """The cases of a row."""
    if row == "print":
        yield _case("print", "no unit", 'print %i, %value [text="{} {:.3f}\\n"]', reporting=())
        return
    holds = 'assert %holds, %value [text="{}"]'
    yield _case("assert", "holds", holds, reporting=())
    yield _case("assert", "of units that sit out", holds, reporting=(3, 40), active=(0, 7))
    for unit in (0, 17, UNITS * CUBES - 1):
        yield _case("assert", f"unit {unit}", holds, reporting=(unit,), raises=AssertionFailed)


def _case(
    row: str,
    name: str,
    line: str,
    *,
    reporting: tuple[int, ...],
    active: tuple[int, ...] | None = None,
    raises: type[Exception] | None = None,
) -> Case:
    """Units `active` (all if None) copy a value and report; those of `reporting` have one below 0.

    Only prints of no unit at all are tried here: what is printed goes to the program's output.
    """
    values = np.arange(UNITS * CUBES, dtype=np.float32)
    values[list(reporting)] = -1.0
    flags = np.zeros(values.size, np.bool_)
    flags[list(range(values.size) if active is None else active)] = row == "assert"
    body = f"""
      %i: index = absolute_pos
      %value: f32 = load %values, %i [check=checked]
      %flag: bool = load %flags, %i [check=checked]
      %zero: f32 = const 0.0
      %holds: bool = ge %value, %zero
      if %flag {{
        {line}
      }}
      store %out, %i, %value [check=checked]"""
    return text_case(
        row,
        name,
        body,
        params={"values": buffer("f32"), "flags": buffer("bool"), "out": buffer("f32")},
        arguments={"values": values, "flags": flags, "out": np.zeros_like(values)},
        expected={"out": values},
        cube_dim=(UNITS, 1, 1),
        cube_count=(CUBES, 1, 1),
        raises=raises,
    )
