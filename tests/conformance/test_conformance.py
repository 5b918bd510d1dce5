"""Every row of the op table on every runtime, bit for bit or within the row's tolerance."""

import pytest

from cubepy.runtime import Device, device
from cubepy.testing import cases_of, check_case, rows

DEVICES = ("reference", "cpu")


@pytest.fixture(scope="module", params=DEVICES)
def target(request: pytest.FixtureRequest) -> Device:
    return device(request.param)


@pytest.mark.parametrize("row", rows())
def test_row_computes_what_the_table_says(row: str, target: Device) -> None:
    failures = [
        str(failure)
        for case in cases_of(row, target.target.features.plane_dim)
        for failure in check_case(case, target)
    ]
    assert not failures, "\n".join(failures[:20])
