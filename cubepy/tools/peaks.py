"""`cubepy doctor --measure`: what a device reaches, by kernels as anybody would write them.

Copying large arrays for memory, independent chains of `fma` for arithmetic, an empty launch for
what a launch costs. The best of several runs counts: what disturbs a run makes it slower only.
Where most runs were disturbed the best one was too, perhaps, and the sentence says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import cubepy as cb
from cubepy.errors import CubeError
from cubepy.frontend import Array, Comptime, f32, i32
from cubepy.records import dataclass
from cubepy.runtime import Device

__all__ = ["measured_peaks"]

_FEWEST_ELEMENTS, _MOST_ELEMENTS = 1 << 18, 1 << 24
_UNITS = 1 << 14
_ENOUGH = 0.02  # seconds of one launch, beyond which it need not be longer
_MOST_TRIPS = 1 << 12
_TIMES = 4  # that a trip goes round the chains, written out
# So many chains: a device that has several vectors a value needs few, another one many.
_CHAINS = (2, 3, 8)
_SECONDS = 0.3  # of repeating one measurement
_CALM = 1.15  # the median of runs over the best of them, at most, where nothing disturbs
_BUDGET = 1.5  # seconds behind which no further number of chains is tried: compiling may be slow


@cb.cube
def copied(x: Array[f32], out: Array[f32]) -> None:
    """One read and one write a unit."""
    out[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS]


@cb.cube
def multiplied(x: Array[f32], out: Array[f32], trips: i32, CHAINS: Comptime[int]) -> None:  # noqa: N803
    """Products and sums that do not wait for one another."""
    i = cb.ABSOLUTE_POS
    factor, term = x[0], x[1]
    chains = cb.local_array(f32, CHAINS)
    for chain in range(CHAINS):
        chains[chain] = x[i] + f32(chain)
    for _ in range(trips):
        for each in cb.unroll(range(_TIMES * CHAINS)):
            chains[each % CHAINS] = cb.fma(chains[each % CHAINS], factor, term)
    total = 0.0
    for chain in range(CHAINS):
        total += chains[chain]
    out[i] = total


@cb.cube
def nothing(out: Array[f32]) -> None:
    """As little as a launch can do."""
    if cb.ABSOLUTE_POS == 0:
        out[0] = 1.0


def measured_peaks(device: Device) -> Iterator[str]:
    """Sentences, one a measurement; a measurement that the device refuses says why."""
    for measure in (_memory, _arithmetic, _launch):
        try:
            yield measure(device)
        except CubeError as error:
            yield f"not measured: {str(error).splitlines()[0]}"


def _memory(device: Device) -> str:
    """As much as two arrays hold that are far larger than any cache, or take long enough."""
    size = _FEWEST_ELEMENTS
    while True:
        x, out = device.array(np.ones(size, np.float32)), device.empty(size)
        launch = partial(copied.over(size, check="unchecked"), x, out)
        launch()
        if size >= _MOST_ELEMENTS or _time(device, launch) > 5 * _ENOUGH:
            runs = _runs(device, launch)
            rate = 2 * 4 * size / runs.best / 1e9
            return f"memory {rate:.3g} GB/s, read and written{runs.disturbed}"
        size *= 4


def _arithmetic(device: Device) -> str:
    """The best number of chains, of those that there is time for."""
    x, out = device.array(np.full(_UNITS, 0.5, np.float32)), device.empty(_UNITS)
    found, end = [], time.perf_counter() + _BUDGET
    for chains in _CHAINS:
        found.append(_rate(device, x, out, chains))
        if time.perf_counter() > end:
            break
    most, disturbed = max(found)
    return f"f32 {most / 1e9:.3g} GFLOP/s, by fma{disturbed}"


def _rate(device: Device, x: Any, out: Any, chains: int) -> tuple[float, str]:
    """Operations a second, by launches just long enough to tell, and what disturbed them."""
    trips, launch = 1, multiplied.over(_UNITS, check="unchecked")
    launch(x, out, trips, chains)
    while trips < _MOST_TRIPS and _time(device, partial(launch, x, out, trips, chains)) < _ENOUGH:
        trips *= 2
    runs = _runs(device, partial(launch, x, out, trips, chains))
    return 2 * _UNITS * _TIMES * chains * trips / runs.best, runs.disturbed


def _launch(device: Device) -> str:
    out = device.empty(1)
    runs = _runs(device, lambda: nothing.over(1)(out), times=100)
    return f"launch {runs.best / 100 * 1e6:.3g} µs{runs.disturbed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runs:
    """Seconds of the best of several runs, and of the one in the middle."""

    best: float
    middle: float

    @property
    def disturbed(self) -> str:
        """Words behind a figure that another run may well contradict; else none."""
        if self.middle <= _CALM * self.best:
            return ""
        more = self.middle / self.best - 1
        return f"; half of the runs took {more:.0%} longer or more: is the machine busy?"


def _runs(device: Device, launch: Callable[[], None], times: int = 1) -> _Runs:
    """How long so many launches and the wait for them take, compiled before."""
    launch()
    device.sync()
    end = time.perf_counter() + _SECONDS
    found = [_time(device, launch, times)]
    while time.perf_counter() < end:
        found.append(_time(device, launch, times))
    return _Runs(best=min(found), middle=median(found))


def _time(device: Device, launch: Callable[[], None], times: int = 1) -> float:
    begin = time.perf_counter()
    for _ in range(times):
        launch()
    device.sync()
    return time.perf_counter() - begin
