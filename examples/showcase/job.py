"""A job of the demo: launches on real data, what must come out, and what it is timed against.

A job is run, held against an independent result, and then timed beside its NumPy or SciPy peer:
the two take turns, so that a busy moment of the machine hits both, and the best run of each counts.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import cubepy as cb
from cubepy.launcher import Launcher

__all__ = ["Job", "Launch", "Outcome", "Timing", "run_job"]

Values = np.ndarray[Any, np.dtype[Any]]
# Taking turns ends when this is spent and each side ran often enough.
SECONDS = 1.5
FEWEST = 3
MOST = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A kernel, the sizes it is launched with, and its arguments; `note` tells it from others."""

    kernel: cb.Cube[..., Any]
    launcher: Launcher
    arguments: tuple[Any, ...]
    note: str = ""

    def __call__(self) -> None:
        """Launch it on the CPU, which is the default device."""
        self.launcher(*self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """`launches` in order leave `result`; arrays in `cleared` are set to 0 before.

    `expected` is computed by other code, in double precision or exactly. Each value may be off by
    `tolerance`: absolute, or of the expected value where the job is `relative`.
    """

    name: str
    about: str
    launches: tuple[Launch, ...]
    result: Values
    expected: Callable[[], Values]
    tolerance: float
    relative: bool = False
    peer: Callable[[], object]
    peer_name: str
    cleared: tuple[Values, ...] = ()

    def run(self) -> None:
        """Everything once."""
        for array in self.cleared:
            array.fill(0)
        for launch in self.launches:
            launch()

    def error(self) -> float:
        """How far the result is off, in the measure of the tolerance."""
        expected = self.expected().astype(np.float64)
        difference = np.abs(self.result.astype(np.float64) - expected)
        if self.relative:
            difference = difference / np.abs(expected)
        return float(difference.max())


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Milliseconds: the first run with all compiling, the best run, on one thread, of the peer."""

    first: float
    best: float
    alone: float
    peer: float

    @property
    def ratio(self) -> float:
        """How many times longer the peer takes."""
        return self.peer / self.best


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A job, whether it was right, and how long it took."""

    job: Job
    error: float
    timing: Timing

    @property
    def right(self) -> bool:
        """Whether every value is within the tolerance; a NaN is not."""
        return self.error <= self.job.tolerance

    @property
    def verdict(self) -> str:
        """`right` in words."""
        if not self.right:
            return f"NO, off by {self.error:.1e}"
        if self.error == 0:
            return "yes, exactly"
        return f"yes, within {self.error:.0e}"


def run_job(job: Job, *, seconds: float = SECONDS) -> Outcome:
    """Run, check, time; and check again, because launching often must change nothing."""
    first = _milliseconds(job.run)
    error = job.error()
    best, peer = _take_turns(job.run, job.peer, seconds)
    cb.set_num_threads(1)
    try:
        alone = min(_milliseconds(job.run) for _ in range(FEWEST))
    finally:
        cb.set_num_threads(None)
    error = float(np.maximum(error, job.error()))
    timing = Timing(first=first, best=best, alone=alone, peer=peer)
    return Outcome(job=job, error=error, timing=timing)


def _take_turns(
    ours: Callable[[], object], theirs: Callable[[], object], seconds: float
) -> tuple[float, float]:
    """The best run of each."""
    best = [np.inf, np.inf]
    end = time.perf_counter() + seconds
    for turn in range(MOST):
        for side, call in enumerate((ours, theirs)):
            best[side] = min(best[side], _milliseconds(call))
        if turn + 1 >= FEWEST and time.perf_counter() > end:
            break
    return best[0], best[1]


def _milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3
