"""Rows of the op table on OpenCL devices: what the table says, as machine code on the CPU has it.

Building a kernel takes a driver much longer than running it, so each row has a few of its cases
here, other types for other rows. `HYPOTHESIS_PROFILE=thorough` takes all.
"""

import zlib

import pytest
from hypothesis import settings

from cubepy.errors import UnsupportedError
from cubepy.runtime import device
from cubepy.testing import Case, cases_of, check_case, rows
from tests.opencl_devices import on_each

THOROUGH = bool(settings.default and settings.default.max_examples > 100)
#: Cases of a row that run, at most.
SHARE = 2
# Values on lines of their own: planes of one unit have no neighbours to exchange with.
NEIGHBOURS = frozenset({"sync_plane"})


def chosen(cases: list[Case], target: str) -> list[Case]:
    """Some cases, the same ones every time."""
    if THOROUGH or len(cases) <= SHARE:
        return cases
    by_chance = sorted(cases, key=lambda case: zlib.crc32(f"{target} {case.name}".encode()))
    return by_chance[:SHARE]


@pytest.mark.parametrize("target", on_each())
@pytest.mark.parametrize("row", rows())
def test_row_computes_what_the_table_says(row: str, target: str) -> None:
    machine = device(target)
    plane_dim = machine.target.features.plane_dim
    if row in NEIGHBOURS and plane_dim == 1:
        pytest.skip("planes of this device have one unit")
    try:
        failures = [
            failure
            for case in chosen(list(cases_of(row, plane_dim)), target)
            for failure in check_case(case, machine)
        ]
    except UnsupportedError as refused:
        pytest.skip(str(refused.diagnostics[0].message))
    assert not failures, "\n".join(map(str, failures[:20]))
