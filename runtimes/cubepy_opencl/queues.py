"""Queues of a device: launches in order, events behind them, what they reported.

Every queue keeps the driver's event of the last launch, so that an event costs nothing until it is
asked. Queues measure time on the device's clock, which `DeviceClock` compares with the host's.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl as cl

from cubepy.runtime import Binding, Buffer, Event, Grid, LoadedKernel, Stream, Timing
from cubepy_opencl.driver import explained

if TYPE_CHECKING:
    from cubepy_opencl.device import OpenclDevice

__all__ = ["DeviceClock", "OpenclEvent", "OpenclStream", "Queue"]

Report = Callable[[], None]
Read = tuple[Buffer, np.ndarray[Any, Any]]


class Queue:
    """One queue of the driver, and what happened in it. Safe to use from several threads."""

    def __init__(self, device: OpenclDevice, context: Any) -> None:
        self.device = device
        self.handle = cl.CommandQueue(
            context, properties=cl.command_queue_properties.PROFILING_ENABLE
        )
        self._lock = threading.Lock()
        self._last: Any = None
        self._reports: list[Report] = []

    def enqueue(self, kernel: Any, size: tuple[int, ...], group: tuple[int, ...]) -> Any:
        """Launch a kernel whose arguments are set; the driver's event of it."""
        self._last = launched = cl.enqueue_nd_range_kernel(self.handle, kernel, size, group)
        return launched

    def read(self, reads: Sequence[Read], stream: Stream | None) -> tuple[Event, Event]:
        """Copy buffers into arrays: when those may be written, and when these are there."""
        with explained(f"{self.device.name}: reading", self.device):
            copies = [
                cl.enqueue_copy(
                    self.handle,
                    array.reshape(-1).view(np.uint8),
                    buffer.memory,
                    is_blocking=False,
                )
                for buffer, array in reads
                if array.nbytes
            ]
            behind = OpenclEvent(self, cl.enqueue_marker(self.handle), stream)
            self.handle.flush()
        return behind, Arrival(behind, copies)

    def wait(self, event: Event) -> None:
        """Let what is given to it from now on begin after an event."""
        if isinstance(event, OpenclEvent) and event.device is self.device:
            event.hold_back(self)
        else:
            event.wait()

    def add_report(self, report: Report) -> None:
        """Something to look at once the launches so far have finished."""
        with self._lock:
            self._reports.append(report)

    def event(self, stream: Stream | None) -> OpenclEvent:
        """An event behind all launches so far."""
        return OpenclEvent(self, self._last, stream)

    def look(self) -> None:
        """Look at all reports, after the launches that make them; raises the first fault."""
        with self._lock:
            reports, self._reports = self._reports, []
        for report in reports:
            report()


class DeviceClock:
    """Times of one device's clock as times of `time.perf_counter`.

    The two are compared while the device rests, not at each launch: launches that ran in turn must
    be seen to, though the host may be held up between reading its clock and giving the device work.
    """

    # The comparison during which the least time passed on the host counts.
    _COMPARISONS = 8
    # Seconds without a launch after which clocks are compared again: they drift apart by some
    # millionths.
    _REST = 1.0

    def __init__(self, device: OpenclDevice, context: Any) -> None:
        self._device = device
        self._context = context
        self._lock = threading.Lock()
        self._ahead = 0.0
        self._last = -math.inf

    def timing(self, launched: Any) -> Timing:
        """When a launch of the driver ran."""

        def timing() -> tuple[float, float]:
            with explained("waiting for a launch", self._device):
                launched.wait()
                begin, end = launched.profile.start * 1e-9, launched.profile.end * 1e-9
                ahead = self._seconds_ahead(begin, end)
            return begin + ahead, end + ahead

        return timing

    def _seconds_ahead(self, begin: float, end: float) -> float:
        """What the host's clock shows more than the device's, for a launch that ran so."""
        with self._lock:
            if begin > self._last + self._REST:
                queue = Queue(self._device, self._context).handle
                compared = [_compare_clocks(queue) for _ in range(self._COMPARISONS)]
                self._ahead = min(compared)[1]
            self._last = max(self._last, end)
            return self._ahead


def _compare_clocks(queue: Any) -> tuple[float, float]:
    """Seconds that the comparison took, and what the host's clock shows more than the device's."""
    begin = time.perf_counter()
    marker = cl.enqueue_marker(queue)
    end = time.perf_counter()
    marker.wait()
    return end - begin, (begin + end) / 2 - marker.profile.queued * 1e-9


class OpenclEvent(Event):
    """A launch of the driver that has finished, or will; None if there was no launch before it."""

    def __init__(self, queue: Queue, last: Any, stream: Stream | None) -> None:
        self.stream = stream
        self._queue = queue
        self._last = last
        if last is None:
            with explained("a marker", queue.device):
                self._last = cl.enqueue_marker(queue.handle)

    @property
    def done(self) -> bool:
        """Whether the driver says so."""
        status: int = self._last.command_execution_status
        return status <= cl.command_execution_status.COMPLETE

    def wait(self) -> None:
        """Wait for the driver; raises what the launches reported."""
        with explained("waiting for a launch", self.device):
            self._last.wait()
        self._queue.look()

    @property
    def device(self) -> OpenclDevice:
        """Whose launch it is."""
        return self._queue.device

    @property
    def seconds(self) -> float:
        with explained("waiting for a launch", self.device):
            self._last.wait()
            end: int = self._last.profile.end
        return end * 1e-9

    def hold_back(self, queue: Queue) -> None:
        """Let what is given to another queue of the device begin behind this."""
        with explained("waiting for a stream", self.device):
            cl.enqueue_barrier(queue.handle, wait_for=[self._last])
            self._queue.handle.flush()


class Arrival(Event):
    """Host arrays are filled: the driver's copies keep these alive until they are waited for."""

    def __init__(self, behind: OpenclEvent, copies: Sequence[Any]) -> None:
        self.stream = behind.stream
        self._behind = behind
        self._copies = copies

    @property
    def done(self) -> bool:
        return self._behind.done

    def wait(self) -> None:
        """What the launches before reported is for those who wait for them."""
        with explained("reading back", self._behind.device):
            for each in self._copies:
                each.wait()

    @property
    def seconds(self) -> float:
        return self._behind.seconds


class OpenclStream(Stream):
    """A queue of its own."""

    def __init__(self, device: OpenclDevice, context: Any) -> None:
        super().__init__(device)
        self._device = device
        with explained(f"a stream of {device.name}", device):
            self._queue = Queue(device, context)

    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        """Give the queue a launch."""
        if grid.cubes:
            self._enqueue(kernel, grid, bindings)

    def timed_launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> Timing:
        """By the driver's clock."""
        return self._device.clock.timing(self._enqueue(kernel, grid, bindings))

    def _enqueue(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> Any:
        launched, report = self._device.enqueue(self._queue, kernel, grid, bindings)
        if report is not None:
            self._queue.add_report(report)
        return launched

    def gather(self, reads: Sequence[Read]) -> tuple[Event, Event]:
        """Enqueued."""
        return self._queue.read(reads, self)

    def record(self) -> Event:
        """An event behind the last launch."""
        return self._queue.event(self)

    def wait(self, event: Event) -> None:
        """Let the driver wait where the event is its own."""
        self._queue.wait(event)
