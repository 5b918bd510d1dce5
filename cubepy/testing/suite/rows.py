"""Every row of the op table, held to the table, or bit for bit to another device."""

from __future__ import annotations

import unittest
from collections.abc import Sequence
from typing import Any

from cubepy.errors import UnsupportedError
from cubepy.records import replace
from cubepy.runtime import device as find_device
from cubepy.testing.cases import Case, check_case, compare_outputs, run_case
from cubepy.testing.conformance import cases_of, rows
from cubepy.testing.suite.subject import Subject

__all__ = ["RowSuite"]

SHOWN = 20


class RowSuite(Subject):
    """`rows`: those that are run, all of them unless a class says otherwise.

    `same_bits_as`: a device whose results must be met to the bit, where the table permits more, for
    those that run the same definitions of library functions.
    """

    rows: Sequence[str] = rows()
    same_bits_as: str = ""

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """A test for each row."""
        if "row" in metafunc.fixturenames:
            metafunc.parametrize("row", self.rows)

    def test_row_computes_what_the_table_says(self, row: str) -> None:
        failures: list[str] = []
        run = 0
        refused = ""
        for case in cases_of(row, self.subject.target.features.plane_dim):
            try:
                failures += self._wrong_in(case)
                run += 1
            except UnsupportedError as error:
                refused = str(error)
        assert not failures, "\n".join(failures[:SHOWN])
        if not run:
            raise unittest.SkipTest(refused)

    def _wrong_in(self, case: Case) -> list[str]:
        if case.raises is not None or not self.same_bits_as:
            return [str(failure) for failure in check_case(case, self.subject)]
        wanted = run_case(case, find_device(self.same_bits_as))
        exact = replace(case, expected={name: wanted[name] for name in case.expected}, steps=0)
        return [str(failure) for failure in compare_outputs(exact, run_case(case, self.subject))]
