"""Cases for what units tell the host: assertions that hold or do not, prints beside other work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cubepy.errors import AssertionFailed, OutOfBoundsError
from cubepy.testing.cases import Case
from cubepy.testing.text_cases import buffer, text_case

__all__ = ["REPORT_ROWS", "report_cases"]

UNITS, CUBES = 24, 2
REPORT_ROWS = frozenset({"assert", "check_bounds", "print"})


def report_cases(row: str) -> Iterator[Case]:
    """The cases of a row."""
    if row == "print":
        yield _case("print", "no unit", 'print %i, %value [text="{} {:.3f}\\n"]', reporting=())
        return
    if row == "check_bounds":
        yield from _bounds()
        return
    holds = 'assert %holds, %value [text="{}"]'
    yield _case("assert", "holds", holds, reporting=())
    yield _case("assert", "of units that sit out", holds, reporting=(3, 40), active=(0, 7))
    for unit in (0, 17, UNITS * CUBES - 1):
        yield _case("assert", f"unit {unit}", holds, reporting=(unit,), raises=AssertionFailed)


def _bounds() -> Iterator[Case]:
    """Subscripts 0 to 47 of a view whose length the launch gives."""
    line = """%limit: index = cast %value [to=index]
        check_bounds %i, %limit [name=view, axis=0]"""
    values = np.full(UNITS * CUBES, UNITS * CUBES, np.float32)
    for name, unit, length, raises in (
        ("inside", 0, UNITS * CUBES, None),
        ("just inside", 17, 18, None),
        ("behind the end", 17, 17, OutOfBoundsError),
        ("empty", 0, 0, OutOfBoundsError),
        ("of a negative length", 5, -3, OutOfBoundsError),
    ):
        lengths = values.copy()
        lengths[unit] = length
        yield _case("check_bounds", name, line, reporting=(), values=lengths, raises=raises)


def _case(
    row: str,
    name: str,
    line: str,
    *,
    reporting: tuple[int, ...],
    active: tuple[int, ...] | None = None,
    values: np.ndarray[Any, Any] | None = None,
    raises: type[Exception] | None = None,
) -> Case:
    """Units `active` (all if None) copy a value and report; those of `reporting` have one below 0.

    Only prints of no unit at all are tried here: what is printed goes to the program's output.
    """
    if values is None:
        values = np.arange(UNITS * CUBES, dtype=np.float32)
    values[list(reporting)] = -1.0
    flags = np.zeros(values.size, np.bool_)
    flags[list(range(values.size) if active is None else active)] = row != "print"
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
