"""Figures with limits, for scripts that measure one thing: a table, and whether all hold."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

__all__ = ["Figure", "Part", "show"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A measured figure; `least` tells that it must reach its limit instead of staying below."""

    name: str
    value: float
    unit: str
    limit: float
    least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the figure keeps to its limit."""
        return self.value >= self.limit if self.least else self.value <= self.limit


Part = Callable[[], Iterator[Figure]]


def show(parts: Sequence[Part]) -> int:
    """Measure and print; 1 if some limit is missed."""
    table = Table("what", "figure", "", "limit", "")
    missed = 0
    for part in parts:
        for figure in part():
            sign = "≥" if figure.least else "≤"
            verdict = "" if figure.holds else "missed"
            missed += not figure.holds
            table.add_row(
                figure.name, f"{figure.value:.3f}", figure.unit, f"{sign} {figure.limit}", verdict
            )
    Console(width=100).print(table)
    return 1 if missed else 0
