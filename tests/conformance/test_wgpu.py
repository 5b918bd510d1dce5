"""Rows of the op table on a wgpu device: what the table says, as machine code on the CPU has it.

Building a kernel takes a driver longer than running it, so each row has one of its cases here,
and functions of the library one for f32. `HYPOTHESIS_PROFILE=thorough` takes all.
"""

import zlib

import pytest
from hypothesis import settings

from cubepy.errors import UnsupportedError
from cubepy.ir import Trait, ops
from cubepy.runtime import device
from cubepy.testing import Case, RuntimeSuite, cases_of, check_case, rows
from tests.wgpu_devices import NAME, needs_wgpu

THOROUGH = bool(settings.default and settings.default.max_examples > 100)
#: Functions of the library that stand for the others, which are made of the same ops.
FUNCTIONS = frozenset({"exp", "sin", "bit_reverse", "rotl", "ldexp"})


def chosen(row: str, plane_dim: int) -> list[Case]:
    """A case, the same one every time, of a type that there is."""
    known = [case for case in cases_of(row, plane_dim) if "f64" not in case.name]
    if THOROUGH:
        return known
    if ops.BY_NAME[row].has(Trait.LIBRARY):
        known = [case for case in known if "f32" in case.name] or known
    return sorted(known, key=lambda case: zlib.crc32(f"wgpu {case.name}".encode()))[:1]


def runs(row: str) -> bool:
    return THOROUGH or row in FUNCTIONS or not ops.BY_NAME[row].has(Trait.LIBRARY)


@needs_wgpu
@pytest.mark.parametrize("row", [row for row in rows() if runs(row)])
def test_row_computes_what_the_table_says(row: str) -> None:
    machine = device(NAME)
    cases = chosen(row, machine.target.features.plane_dim)
    try:
        failures = [failure for case in cases for failure in check_case(case, machine)]
    except UnsupportedError as refused:
        pytest.skip(str(refused.diagnostics[0].message))
    assert not failures, "\n".join(map(str, failures[:20]))


@needs_wgpu
class TestSuite(RuntimeSuite):
    """The published suite; the rows are above."""

    device = NAME
    rows = ("load",)
