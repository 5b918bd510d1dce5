"""Rows of kernels, ours in some variants beside one written by hand, turn by turn.

A ratio is the median of the turns' ratios, so that both sides meet the same machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import geometric_mean
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import cubepy as cb
from benchmarks.rows import Array, Row
from benchmarks.timing import in_turns, ratio

__all__ = ["Comparison", "on_buffers"]

_TURNS = 7
Call = Callable[[], object]


def on_buffers(
    device: Any,
    row: Row,
    kernel: Any,
    check: str,
    is_right: Callable[[list[Array]], bool] | None = None,
) -> Call:
    """A call that launches on buffers of the device and waits; its answer is checked first."""
    given = [
        device.array(each) if isinstance(each, np.ndarray) else each for each in row.arguments()
    ]
    launch = row.launch(kernel, given, check)

    def call() -> None:
        launch()
        device.sync()

    call()
    after: list[Array] = [each.numpy() for each in given if isinstance(each, cb.Buffer)]
    if not (is_right or row.is_right)(after):
        raise AssertionError(f"{row.name}: our answer on {device.name} is wrong")
    return call


class Comparison:
    """Ratios by variant and row."""

    def __init__(self, title: str, variants: Iterable[str]) -> None:
        self._ratios: dict[str, dict[str, float]] = {variant: {} for variant in variants}
        self._best: dict[str, list[float]] = {}
        self._title = title

    def measure(self, name: str, ours: Mapping[str, Call], theirs: Call) -> None:
        """All variants of a row."""
        samples = in_turns({"theirs": theirs, **ours}, turns=_TURNS, patience_s=2.0)
        for variant in ours:
            self._ratios[variant][name] = ratio(samples[variant], samples["theirs"])
        self._best[name] = [min(samples[which]) for which in (*ours, "theirs")]
        found = ", ".join(f"{variant} {self._ratios[variant][name]:.2f}" for variant in ours)
        Console(stderr=True).print(f"{self._title}: {name}: {found}")  # the table comes at the end

    def mean(self, variant: str) -> float:
        """The geometric mean over the rows."""
        return geometric_mean(self._ratios[variant].values())

    def worst(self, variant: str) -> tuple[float, str]:
        """The largest ratio, and its row."""
        return max((value, name) for name, value in self._ratios[variant].items())

    def show(self) -> None:
        """The rows, for people."""
        variants = list(self._ratios)
        headings = [
            *(f"{each} ms" for each in variants),
            "by hand ms",
            *(f"{v} ÷" for v in variants),
        ]
        table = Table("kernel", *headings, title=self._title)
        for name, best in self._best.items():
            relative = [self._ratios[variant][name] for variant in variants]
            table.add_row(name, *(f"{value:.2f}" for value in (*best, *relative)))
        Console(width=120).print(table)
