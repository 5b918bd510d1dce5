"""Prints what the recipes of the cookbook took, where they ran: times are told, not asserted."""

import pytest

COOKBOOK = "cookbook"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = [
        str(value)
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name == COOKBOOK
    ]
    if lines:
        terminalreporter.write_sep("-", "cookbook: cubepy, NumPy or SciPy, ratio")
        for line in sorted(lines):
            terminalreporter.write_line(line)
