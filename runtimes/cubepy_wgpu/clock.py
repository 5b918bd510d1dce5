"""When launches began and ended, by the device's own clock, and events that tell it.

From the first time that somebody asks, every pass writes a timestamp into the next place of a ring
when it ends, and one when it begins while somebody measures. A device without timestamps has the
time of this process.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import wgpu
from wgpu.backends.wgpu_native import lib

from cubepy.runtime import Event, WorkerStream

if TYPE_CHECKING:
    from cubepy_wgpu.device import WgpuDevice

__all__ = ["FEATURE", "Clock", "TimedEvent", "WgpuStream"]

FEATURE = "timestamp-query"
_PLACES = 1024
_USES = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC


class Clock:
    """The timestamps of one device; used under the device's lock."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._queries = device.create_query_set(type="timestamp", count=_PLACES)
        self._resolved = device.create_buffer(size=8 * _PLACES, usage=_USES)
        # what a tick is worth: GPUs count in steps of their own
        period = lib.wgpuQueueGetTimestampPeriod(device.queue._internal)  # noqa: SLF001
        self._tick = float(period) * 1e-9
        self._next = 0
        self._last: Moment | None = None
        self._asked = False
        self._spans: list[tuple[Moment, Moment]] | None = None
        self._waiting: weakref.WeakValueDictionary[int, Moment] = weakref.WeakValueDictionary()

    def wanted(self) -> Mapping[str, object] | None:
        """What tells a pass to write down its times; None if nobody asks."""
        if self._spans is not None:
            begin = self._take()
            writes = {"beginning_of_pass_write_index": begin.place, **self._writes()}
            assert self._last is not None
            self._spans.append((begin, self._last))
            return writes
        return self._writes() if self._asked else None

    @contextmanager
    def measured(self) -> Iterator[list[tuple[Moment, Moment]]]:
        """A list of when each pass began and ended of the launch that is made inside."""
        spans: list[tuple[Moment, Moment]] = []
        self._spans = spans
        try:
            yield spans
        finally:
            self._spans = None

    def _writes(self) -> Mapping[str, object]:
        self._last = self._take()
        return {"query_set": self._queries, "end_of_pass_write_index": self._last.place}

    def _take(self) -> Moment:
        """The next place of the ring."""
        place, self._next = self._next, (self._next + 1) % _PLACES
        if place in self._waiting:  # somebody may still ask for what stands there
            self._waiting[place].read()
        self._waiting[place] = moment = Moment(self, place)
        return moment

    def last(self) -> Moment:
        """The end of the last launch; of a pass of nothing behind it, if this is new."""
        self._asked = True
        if self._last is None:
            encoder = self._device.create_command_encoder()
            encoder.begin_compute_pass(timestamp_writes=self._writes()).end()
            self._device.queue.submit([encoder.finish()])
        assert self._last is not None
        return self._last

    def seconds(self, place: int) -> float:
        """What a place holds."""
        encoder = self._device.create_command_encoder()
        encoder.resolve_query_set(self._queries, place, 1, self._resolved, 0)
        self._device.queue.submit([encoder.finish()])
        octets = self._device.queue.read_buffer(self._resolved, 0, 8)
        return int(np.frombuffer(octets, np.uint64)[0]) * self._tick


class Moment:
    """A begin or end, read when it is asked for, or before its place is given away."""

    def __init__(self, clock: Clock, place: int) -> None:
        self.place = place
        self._clock = clock
        self._seconds: float | None = None

    def read(self) -> float:
        """Seconds on the device's clock; waits for the launch."""
        if self._seconds is None:
            self._seconds = self._clock.seconds(self.place)
        return self._seconds


class TimedEvent(Event):
    """A point in the work of a thread or of the queue, reached when the last launch before it was.

    `moments` gets that launch's end when the point is reached; empty where there is no clock.
    """

    def __init__(self, device: WgpuDevice, reached: Event, moments: list[Moment]) -> None:
        self.stream = reached.stream
        self._device = device
        self._reached = reached
        self._moments = moments

    @property
    def done(self) -> bool:
        return self._reached.done

    def wait(self) -> None:
        """As the point is reached."""
        self._reached.wait()

    @property
    def seconds(self) -> float:
        reached = self._reached.seconds
        return self._device.read_moment(self._moments[0]) if self._moments else reached


class WgpuStream(WorkerStream):
    """A thread that launches; its events have the time of the device."""

    def __init__(self, device: WgpuDevice) -> None:
        super().__init__(device)
        self._clocked = device

    def record(self) -> Event:
        """An event behind the last launch."""
        moments: list[Moment] = []
        reached = self.submit(lambda: moments.extend(self._clocked.moments()))
        return TimedEvent(self._clocked, reached, moments)
